import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'

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

export type ProgramOptions = {
  /** Of Node, such as `--max-old-space-size=96`. */
  readonly flags: readonly string[]
  /** Large modules of packages: from the sources they are loaded before the loader that would go through them. */
  readonly preload: readonly string[]
  /** Of the program itself. */
  readonly arguments: readonly string[]
}

/**
 * Starts a module as a process of its own, from the built files and from the sources alike. It gets nothing of this
 * process's environment: no key, no address.
 * @param name without its extension and relative to `from`, such as `./pdf-program`
 * @param from import.meta.url of the module that starts it
 */
export function startProgram(
  name: string,
  from: string,
  { flags, preload, arguments: given }: ProgramOptions,
): ChildProcessWithoutNullStreams {
  const extension = extname(from)
  const file = fileURLToPath(new URL(name + extension, from))
  const modules =
    extension === '.ts' ? [...preload.map((module) => import.meta.resolve(module)), typescriptLoader()] : []
  const imports = modules.flatMap((module) => ['--import', module])
  return spawn(process.execPath, [...flags, ...imports, file, ...given], { env: {}, stdio: ['pipe', 'pipe', 'pipe'] })
}

/**
 * Starts a module on a thread of its own, from the built files and from the sources alike.
 * @param name without its extension and relative to `from`, such as `./checkpoint-worker`
 * @param from import.meta.url of the module that starts it
 */
export function startWorker(name: string, from: string, workerData?: unknown): Worker {
  const extension = extname(from)
  const file = new URL(name + extension, from)
  if (extension !== '.ts' || typescriptLoader() !== import.meta.resolve('tsx')) return new Worker(file, { workerData })
  // On Node 22 the hooks of `--import tsx` stay on the main thread: a thread registers them itself.
  const api = JSON.stringify(import.meta.resolve('tsx/esm/api'))
  const source = `import(${api}).then(({ register }) => { register(); return import(${JSON.stringify(file.href)}) })`
  return new Worker(source, { eval: true, workerData })
}
