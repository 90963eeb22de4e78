import type { Worker } from 'node:worker_threads'
import { startWorker } from '../../../runtime/start-worker.ts'
import { WorkerPool } from '../../../runtime/worker-pool.ts'
import { BUSY } from './shred-answer.ts'

/** Empties the WAL, where deleted bytes live on, from a thread's connection: the event loop does not wait. */
export class Shredder {
  readonly #thread: WorkerPool<string, string>
  #running: Promise<boolean> | undefined

  constructor(file: string, start: () => Worker = () => startWorker('./shred-worker', import.meta.url, file)) {
    this.#thread = new WorkerPool(start, 1)
  }

  /**
   * @returns false when others kept it from being done
   * @throws Error when the disk did, or the thread died: the next one starts it again
   */
  shred(): Promise<boolean> {
    this.#running ??= this.#ask().finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  close(): Promise<void> {
    return this.#thread.close()
  }

  async #ask(): Promise<boolean> {
    const reason = await this.#thread.run('shred')
    if (reason !== '' && reason !== BUSY) throw new Error(`the vault was not shredded: ${reason}`)
    return reason === ''
  }
}
