import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { checkpoint } from './checkpoint.ts'
import type { LogFile } from './log-file.ts'

/** Pages of 4 KiB that are written between two checkpoints. */
const PAGES_BETWEEN = 1024
/** What a commit writes beside its events' text: the last page of the table and those of the index. */
const PAGES_OF_COMMIT = 3
const PAGE_BYTES = 4096

/** Keeps the WAL short, on a worker's connection so that the event loop never waits; started when first needed. */
export class Checkpointer {
  readonly #log: LogFile
  #pages = 0
  #running = false
  #worker: Worker | 'failed' | undefined
  count = 0

  constructor(log: LogFile) {
    this.#log = log
  }

  /** Counts a commit that held so many bytes of text in so many events. */
  committed(events: number, bytes: number): void {
    // Each event touches a leaf of the index, whose streams lie in no order; neighbours share pages.
    this.#pages += PAGES_OF_COMMIT + events / 2 + bytes / PAGE_BYTES
    if (this.#pages < PAGES_BETWEEN || this.#running) return
    this.#pages = 0
    this.count++
    this.#worker ??= this.#start()
    if (this.#worker === 'failed') return this.#runHere('keep-up')
    this.#running = true
    this.#worker.postMessage('keep-up')
  }

  /** Moves everything into the file, so that it can be copied alone. */
  async close(): Promise<void> {
    if (this.#worker instanceof Worker) await this.#worker.terminate()
    this.#runHere('empty')
  }

  #runHere(mode: 'keep-up' | 'empty'): void {
    try {
      this.#log.use(({ db }) => checkpoint(db, mode))
    } catch {
      // The WAL keeps what could not be moved; the next opening reads it.
    }
  }

  #start(): Worker | 'failed' {
    try {
      const file = new URL(`./checkpoint-worker${extname(import.meta.url)}`, import.meta.url)
      const worker = new Worker(file, { workerData: this.#log.file })
      worker.unref()
      worker.on('message', () => (this.#running = false))
      worker.on('error', () => {
        this.#worker = 'failed'
        this.#running = false
      })
      return worker
    } catch {
      return 'failed'
    }
  }
}
