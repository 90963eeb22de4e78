import type { Worker } from 'node:worker_threads'
import { startWorker } from '../../../runtime/start-worker.ts'
import { WorkerPool } from '../../../runtime/worker-pool.ts'
import type { Told } from '../../ports/told.ts'
import { checkpoint, type CheckpointMode } from './checkpoint.ts'
import type { LogFile } from './log-file.ts'

/** Pages of 4 KiB that are written between two checkpoints: at most 16 MB. */
const PAGES_BETWEEN = 4096
/** What a commit writes beside its events' text: the last page of the table and those of the index. */
const PAGES_OF_COMMIT = 3
const PAGE_BYTES = 4096

export type CheckpointerStats = {
  checkpoints: number
  /** Those that had to run on the event loop, because the thread failed. */
  checkpointsOnLoop: number
}

/**
 * Keeps the WAL short, on a worker's connection so that the event loop does not wait; started when first needed, and again
 * when it died.
 */
export class Checkpointer {
  readonly stats: CheckpointerStats = { checkpoints: 0, checkpointsOnLoop: 0 }
  readonly #log: LogFile
  #pages = 0
  #running = false
  #closed = false
  readonly #told: Told
  readonly #thread: WorkerPool<string, string>

  constructor(log: LogFile, told: Told, start?: () => Worker) {
    this.#log = log
    this.#told = told
    const started = () => startWorker('./checkpoint-worker', import.meta.url, log.file)
    this.#thread = new WorkerPool(start ?? started, 1)
  }

  /** Counts a commit that held so many appends and characters of text. */
  committed(appends: number, characters: number): void {
    // Streams lie in any order, so that each append may touch a leaf of the index that no other one touches.
    this.#pages += PAGES_OF_COMMIT + appends + characters / PAGE_BYTES
    if (this.#pages < PAGES_BETWEEN || this.#running) return
    this.#pages = 0
    this.#running = true
    void this.#run()
  }

  /** Moves everything into the file, so that it can be copied alone. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#thread.close()
    this.#runHere('empty')
  }

  #runHere(mode: CheckpointMode): void {
    try {
      this.#log.use(({ db }) => checkpoint(db, mode))
      this.stats.checkpoints++
      this.stats.checkpointsOnLoop++
    } catch (error) {
      // The WAL keeps what could not be moved; the next opening reads it.
      this.#told({ err: error, file: this.#log.file }, 'a checkpoint of the log failed')
    }
  }

  async #run(): Promise<void> {
    const file = this.#log.file
    try {
      const reason = await this.#thread.run('keep-up')
      if (reason !== '') this.#told({ file, reason }, 'a checkpoint of the log failed; a later one makes up for it')
      this.stats.checkpoints++
    } catch (error) {
      if (this.#closed) return
      this.#told({ err: error, file }, 'the thread for the checkpoints of the log failed; the next one starts it again')
      this.#runHere('keep-up')
    } finally {
      this.#running = false
    }
  }
}
