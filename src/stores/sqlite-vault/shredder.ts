import { once } from 'node:events'
import type { Worker } from 'node:worker_threads'
import { startWorker } from '../../start-worker.ts'

/** Empties the WAL, where deleted bytes live on, from a thread's connection: the event loop does not wait. */
export class Shredder {
  #worker: Worker | undefined
  #running: Promise<boolean> | undefined

  constructor(private readonly file: string) {}

  /** False when others kept it from being done. */
  shred(): Promise<boolean> {
    this.#running ??= this.#ask().finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  async close(): Promise<void> {
    await this.#running?.catch(() => false)
    await this.#worker?.terminate()
    this.#worker = undefined
  }

  async #ask(): Promise<boolean> {
    this.#worker ??= this.#start()
    this.#worker.postMessage('shred')
    const [done]: unknown[] = await once(this.#worker, 'message')
    return done === true
  }

  #start(): Worker {
    const worker = startWorker('./shred-worker', import.meta.url, this.file)
    worker.unref()
    worker.on('error', () => {
      this.#worker = undefined
    })
    return worker
  }
}
