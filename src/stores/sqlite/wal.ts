import type Database from 'better-sqlite3'
import type { Worker } from 'node:worker_threads'
import { startWorker } from '../../runtime/start-worker.ts'
import { WorkerPool } from '../../runtime/worker-pool.ts'
import type { WarningLogger } from '../../runtime/logger.ts'

/**
 * What is done with a file's WAL. `keep up` never waits for anyone; `keep short` also makes writers start it over where it is
 * long, `empty` gives its room back, and with it what was deleted.
 */
export type WalCheckpointTask = { readonly file: string; readonly mode: 'keep up' | 'keep short' | 'empty' }

/** `busy`: others kept it from being done whole. `failure`: why it was not done; '' where it was. */
export type WalCheckpointResult = { readonly isBusy: boolean; readonly failure: string }

const PRAGMAS = {
  'keep up': 'wal_checkpoint(PASSIVE)',
  restart: 'wal_checkpoint(RESTART)',
  empty: 'wal_checkpoint(TRUNCATE)',
} as const

/** Moves what the WAL holds into the file. `pages`: what the WAL has. */
export function checkpointWal(
  db: Database.Database,
  mode: keyof typeof PRAGMAS,
): { readonly busy: boolean; readonly pages: number } {
  const [row] = db.prepare<[], [busy: number, pages: number, moved: number]>(`PRAGMA ${PRAGMAS[mode]}`).raw().all()
  return { busy: row?.[0] !== 0, pages: row?.[1] ?? 0 }
}

/** A thread that looks after the WALs of files, so that the event loop does not wait for the disk. */
export class WalThread {
  readonly #pool: WorkerPool<WalCheckpointTask, WalCheckpointResult>

  constructor(start: () => Worker = () => startWorker('./wal-worker', import.meta.url)) {
    this.#pool = new WorkerPool(start, 1)
  }

  /** @throws Error when the thread died over it; the next one starts another */
  run(work: WalCheckpointTask): Promise<WalCheckpointResult> {
    return this.#pool.run(work)
  }

  close(): Promise<void> {
    return this.#pool.close()
  }
}

/** The process's own, for all its files. It starts when it is needed and does not keep the process from ending. */
export const walThread = new WalThread()

type WalCheckpointerOptions = WalCheckpointTask & {
  /** For what is told, such as `the log`. */
  readonly name: string
  /** How much is written between two checkpoints. */
  readonly writesBetweenCheckpoints: number
  readonly thread: WalThread
  readonly told: WarningLogger
  /** Done on the event loop where the thread fails. */
  readonly fallback?: () => void
}

/** Has a file's WAL moved into the file whenever so much was written. */
export class WalCheckpointer {
  readonly stats = { checkpoints: 0, checkpointsOnLoop: 0 }
  #recordWrites = 0
  #running: Promise<void> | undefined
  #isClosed = false

  constructor(private readonly options: WalCheckpointerOptions) {}

  recordWrites(amount: number): void {
    this.#recordWrites += amount
    if (this.#recordWrites < this.options.writesBetweenCheckpoints || this.#running !== undefined || this.#isClosed)
      return
    this.#recordWrites = 0
    this.#running = this.#run().finally(() => (this.#running = undefined))
  }

  /** Resolves when no thread has the file open for it any more. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#running
  }

  /** Whatever fails, the WAL keeps until a later checkpoint succeeds. */
  async #run(): Promise<void> {
    const { file, mode, name, thread, told, fallback } = this.options
    try {
      const { failure } = await thread.run({ file, mode })
      if (failure !== '') told({ file, reason: failure }, `a checkpoint of ${name} failed; a later one makes up for it`)
      this.stats.checkpoints++
    } catch (error) {
      if (this.#isClosed) return
      told({ err: error, file }, 'the thread for checkpoints failed; the next one starts it again')
      if (fallback === undefined) return
      fallback()
      this.stats.checkpoints++
      this.stats.checkpointsOnLoop++
    }
  }
}
