import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'

/**
 * The loader for TypeScript when running from the sources: the first module of `--import`, since later ones may be
 * TypeScript themselves.
 */
export function typescriptLoader(): string {
  const nodeOptions = process.execArgv
  const loader = nodeOptions[nodeOptions.indexOf('--import') + 1]
  if (!nodeOptions.includes('--import') || loader === undefined) {
    throw new Error('A .ts file was started without a loader: start Node with --import tsx')
  }
  return import.meta.resolve(loader)
}

type ProgramOptions = {
  /** Options of Node, such as `--max-old-space-size=96`. */
  readonly flags: readonly string[]
  /**
   * Large packages to load before the TypeScript loader, which would otherwise process them; used only when running
   * from the sources.
   */
  readonly preload: readonly string[]
  readonly arguments: readonly string[]
}

/**
 * Starts a module as a separate process, from the built files or the sources. The process gets an empty environment: no
 * keys, no connection strings.
 * @param name without extension, relative to `from`, such as `./pdf-program`
 * @param from import.meta.url of the calling module
 */
export function startProgram(
  name: string,
  from: string,
  { flags, preload, arguments: programArguments }: ProgramOptions,
): ChildProcessWithoutNullStreams {
  const extension = extname(from)
  const file = fileURLToPath(new URL(name + extension, from))
  const modules =
    extension === '.ts' ? [...preload.map((module) => import.meta.resolve(module)), typescriptLoader()] : []
  const imports = modules.flatMap((module) => ['--import', module])
  return spawn(process.execPath, [...flags, ...imports, file, ...programArguments], {
    env: {},
    stdio: ['pipe', 'pipe', 'pipe'],
  })
}

/**
 * Starts a module on a worker thread, from the built files or the sources.
 * @param name without extension, relative to `from`, such as `./checkpoint-worker`
 * @param from import.meta.url of the calling module
 */
export function startWorker(name: string, from: string, workerData?: unknown): Worker {
  const extension = extname(from)
  const file = new URL(name + extension, from)
  if (extension !== '.ts' || typescriptLoader() !== import.meta.resolve('tsx')) return new Worker(file, { workerData })
  // On Node 22 the hooks of `--import tsx` apply only to the main thread: a worker registers them itself.
  const api = JSON.stringify(import.meta.resolve('tsx/esm/api'))
  const source = `import(${api}).then(({ register }) => { register(); return import(${JSON.stringify(file.href)}) })`
  return new Worker(source, { eval: true, workerData })
}
