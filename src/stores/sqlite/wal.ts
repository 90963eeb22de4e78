import type Database from 'better-sqlite3'
import type { Worker } from 'node:worker_threads'
import { startWorker } from '../../runtime/start-worker.ts'
import { WorkerPool } from '../../runtime/worker-pool.ts'
import type { WarningLogger } from '../../runtime/logger.ts'

/**
 * A checkpoint of a file's WAL. `bounded`: waits for readers and writers only if the WAL is long, to restart it.
 * `truncate`: truncates the WAL, which also removes deleted data from it.
 */
export type WalCheckpointTask = { readonly file: string; readonly mode: 'bounded' | 'truncate' }

/** `isBusy`: other connections prevented a complete checkpoint. `failure`: the error message, or '' on success. */
export type WalCheckpointResult = { readonly isBusy: boolean; readonly failure: string }

const PRAGMAS = {
  passive: 'wal_checkpoint(PASSIVE)',
  restart: 'wal_checkpoint(RESTART)',
  truncate: 'wal_checkpoint(TRUNCATE)',
} as const

/** Copies the WAL's content into the database file. @returns `pages`: the number of pages in the WAL */
export function checkpointWal(
  db: Database.Database,
  mode: keyof typeof PRAGMAS,
): { readonly busy: boolean; readonly pages: number } {
  const [row] = db.prepare<[], [busy: number, pages: number, moved: number]>(`PRAGMA ${PRAGMAS[mode]}`).raw().all()
  return { busy: row?.[0] !== 0, pages: row?.[1] ?? 0 }
}

/** A worker thread that runs checkpoints, so that the event loop does not wait for the disk. */
export type WalThread = WorkerPool<WalCheckpointTask, WalCheckpointResult>

/** If the thread dies, the next checkpoint starts a new one. */
export const createWalThread = (start: () => Worker = () => startWorker('./wal-worker', import.meta.url)): WalThread =>
  new WorkerPool(start, 1)

/** The process's shared thread. Started on first use; it does not keep the process running. */
export const walThread = createWalThread()

type WalCheckpointerOptions = Pick<WalCheckpointTask, 'file'> & {
  /** Display name for warnings, such as `the log`. */
  readonly name: string
  /** Pages of the WAL that are not in the file yet at which a checkpoint starts. */
  readonly maxPages: number
  /** Counts those pages. */
  readonly countPages: () => number
  readonly thread: WalThread
  readonly warn: WarningLogger
  readonly fallback?: () => void
}

/** Checkpoints a file's WAL when it has become long. */
export class WalCheckpointer {
  readonly stats = { checkpoints: 0, checkpointsOnLoop: 0 }
  /** Pages that the last checkpoint left in the WAL: it failed, or they were written meanwhile. */
  #pagesLeft = 0
  #running: Promise<void> | undefined
  #isClosed = false

  constructor(private readonly options: WalCheckpointerOptions) {}

  /** Starts a checkpoint if the WAL is long, unless one is running. */
  afterCommit(): void {
    if (this.#running !== undefined || this.#isClosed) return
    if (this.#countPages() < this.#pagesLeft + this.options.maxPages) return
    this.#running = this.#run().finally(() => {
      this.#pagesLeft = this.#countPages()
      this.#running = undefined
    })
  }

  /** Resolves once the thread no longer has the file open for this checkpointer. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#running
  }

  #countPages(): number {
    try {
      return this.options.countPages()
    } catch {
      // The commit was successful. The file's next reader or writer reports the error.
      return 0
    }
  }

  /** After a failure, the data stays in the WAL until a later checkpoint succeeds. */
  async #run(): Promise<void> {
    const { file, name, thread, warn, fallback } = this.options
    try {
      const { failure } = await thread.run({ file, mode: 'bounded' })
      if (failure !== '')
        warn({ file, reason: failure }, `a checkpoint of ${name} failed; it will be retried after more writes`)
      this.stats.checkpoints++
    } catch (error) {
      if (this.#isClosed) return
      warn({ err: error, file }, 'the checkpoint thread failed; it restarts with the next checkpoint')
      if (fallback === undefined) return
      fallback()
      this.stats.checkpoints++
      this.stats.checkpointsOnLoop++
    }
  }
}
