/**
 * The module that lets this process read TypeScript, where it runs from the sources: the first that `--import` names,
 * since the next may be TypeScript themselves.
 */
export function typescriptLoader(): string {
  const words = process.execArgv
  const loader = words[words.indexOf('--import') + 1]
  if (!words.includes('--import') || loader === undefined) {
    throw new Error('A .ts file was started without a loader: start Node with --import tsx')
  }
  return import.meta.resolve(loader)
}
