import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'

/** Moves what the WALs hold into the files, on a worker's connection so that the event loop does not wait for the disk. */
export type Checkpointer = {
  /** Counts the documents written to a file. */
  written(path: string, documents: number): void
  close(): Promise<void>
}

/** Documents between two checkpoints of a file: about 30 MB of WAL. */
const DOCUMENTS_BETWEEN = 4000
/** Beside its documents a transaction writes the last page of each index, and the checkpoint. */
const DOCUMENTS_OF_COMMIT = 3

/** Where the worker fails, SQLite itself checkpoints in a commit (AUTOCHECKPOINT in file.ts): slower, not wrong. */
export function checkpointer(): Checkpointer {
  const written = new Map<string, number>()
  const running = new Set<string>()
  let worker: Worker | undefined

  function start(): Worker {
    const started = new Worker(new URL(`./checkpoint-worker${extname(import.meta.url)}`, import.meta.url))
    started.unref()
    started.on('message', (path: string) => running.delete(path))
    started.on('error', () => undefined)
    return started
  }

  return {
    written(path, documents) {
      const sum = (written.get(path) ?? 0) + documents + DOCUMENTS_OF_COMMIT
      const due = sum >= DOCUMENTS_BETWEEN && !running.has(path)
      written.set(path, due ? 0 : sum)
      if (!due) return
      running.add(path)
      worker ??= start()
      worker.postMessage(path)
    },
    close: async () => void (await worker?.terminate()),
  }
}
