import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { typescriptLoader } from './typescript-loader.ts'

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
