import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { typescriptLoader } from './typescript-loader.ts'

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
