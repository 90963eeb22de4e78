import type { Worker } from 'node:worker_threads'
import { startWorker } from '../../start-worker.ts'
import { checkpoint, type CheckpointMode } from './checkpoint.ts'
import type { LogFile } from './log-file.ts'

/** Pages of 4 KiB that are written between two checkpoints: at most 16 MB. */
const PAGES_BETWEEN = 4096
/** What a commit writes beside its events' text: the last page of the table and those of the index. */
const PAGES_OF_COMMIT = 3
const PAGE_BYTES = 4096

export type CheckpointerStats = {
  checkpoints: number
  /** Those that had to run on the event loop, because no worker could start. */
  checkpointsOnLoop: number
}

/** Keeps the WAL short, on a worker's connection so that the event loop does not wait; started when first needed. */
export class Checkpointer {
  readonly stats: CheckpointerStats = { checkpoints: 0, checkpointsOnLoop: 0 }
  readonly #log: LogFile
  #pages = 0
  #running = false
  #worker: Worker | undefined
  #broken = false

  constructor(log: LogFile) {
    this.#log = log
  }

  /** Counts a commit that held so many appends and characters of text. */
  committed(appends: number, characters: number): void {
    // Streams lie in any order, so that each append may touch a leaf of the index that no other one touches.
    this.#pages += PAGES_OF_COMMIT + appends + characters / PAGE_BYTES
    if (this.#pages < PAGES_BETWEEN || this.#running) return
    this.#pages = 0
    if (!this.#broken) this.#worker ??= this.#start()
    if (this.#worker === undefined) return this.#runHere('keep-up')
    this.#running = true
    this.#worker.postMessage('keep-up')
  }

  /** Moves everything into the file, so that it can be copied alone. */
  async close(): Promise<void> {
    await this.#worker?.terminate()
    this.#runHere('empty')
  }

  #runHere(mode: CheckpointMode): void {
    try {
      this.#log.use(({ db }) => checkpoint(db, mode))
      this.stats.checkpoints++
      this.stats.checkpointsOnLoop++
    } catch {
      // The WAL keeps what could not be moved; the next opening reads it.
    }
  }

  #start(): Worker | undefined {
    try {
      const worker = startWorker('./checkpoint-worker', import.meta.url, this.#log.file)
      worker.unref()
      worker.on('message', () => this.#done())
      worker.on('error', () => this.#giveUp())
      return worker
    } catch {
      this.#giveUp()
      return undefined
    }
  }

  #done(): void {
    this.#running = false
    this.stats.checkpoints++
  }

  #giveUp(): void {
    this.#running = false
    this.#broken = true
    this.#worker = undefined
  }
}
