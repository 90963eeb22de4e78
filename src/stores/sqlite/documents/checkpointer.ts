import type { Worker } from 'node:worker_threads'
import { startWorker } from '../../../runtime/start-worker.ts'
import { WorkerPool } from '../../../runtime/worker-pool.ts'
import type { Told } from '../../ports/told.ts'

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

const started = () => startWorker('./checkpoint-worker', import.meta.url)

/**
 * Where a checkpoint fails, SQLite itself checkpoints in a commit (AUTOCHECKPOINT in file.ts): slower, not wrong. A
 * thread that can't start or dies is told of, and the next checkpoint starts another one.
 */
export function checkpointer(told: Told, start: () => Worker = started): Checkpointer {
  const written = new Map<string, number>()
  const running = new Set<string>()
  const thread = new WorkerPool<string, string>(start, 1)
  let closed = false

  async function run(path: string): Promise<void> {
    try {
      const reason = await thread.run(path)
      if (reason !== '') told({ path, reason }, 'a checkpoint of a read model failed; a later one makes up for it')
    } catch (error) {
      if (!closed)
        told({ err: error, path }, 'the thread for the checkpoints of read models failed; the next starts it again')
    } finally {
      running.delete(path)
    }
  }

  return {
    written(path, documents) {
      const sum = (written.get(path) ?? 0) + documents + DOCUMENTS_OF_COMMIT
      const due = sum >= DOCUMENTS_BETWEEN && !running.has(path)
      written.set(path, due ? 0 : sum)
      if (!due) return
      running.add(path)
      void run(path)
    },
    close() {
      closed = true
      return thread.close()
    },
  }
}
