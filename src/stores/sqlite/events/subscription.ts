import { setImmediate as nextTick, setTimeout as pause } from 'node:timers/promises'
import { StoreUnavailable, type Batch, type Subscription } from '../../ports/event-store.ts'
import { News } from '../../log/news.ts'
import type { Told } from '../../ports/told.ts'

/** Milliseconds until a reading that failed is tried again. */
const RETRY_PAUSE = 100

/** What a subscription reads: `inMemory` when it came from the tail, which costs nothing. */
export type Reading = { readonly batch: Batch; readonly position: number; readonly inMemory: boolean }

export type Source = {
  /** The next batch behind a position; without events when nothing lies there. */
  next(position: number): Reading
  /** Registers for news, until the function that comes back is called. */
  follow(wake: () => void): () => void
}

/** Follows the log by pulling: nothing is read before the batch before it was taken, so a slow reader costs no memory. */
export class LogSubscription implements Subscription {
  readonly #source: Source
  readonly #from: number
  readonly #news = new News()
  readonly #told: Told
  #stopped = false

  /** @param told of a reading that failed and is tried again, as often as it fails */
  constructor(source: Source, from: number, told: Told) {
    this.#source = source
    this.#from = from
    this.#told = told
  }

  stop(): void {
    this.#stopped = true
    this.#news.tell()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Batch, void, undefined> {
    const leave = this.#source.follow(() => this.#news.tell())
    let position = this.#from
    let announced = false
    try {
      while (!this.#stopped) {
        this.#news.forget()
        const reading = await this.#read(position)
        if (reading === undefined) continue
        if (reading.position > position || !announced) yield reading.batch
        announced = true
        position = reading.position
        if (reading.batch.caughtUp) await this.#news.wait()
        else if (!reading.inMemory) await nextTick()
      }
    } finally {
      leave()
    }
  }

  /** Undefined when the file can't be read now: it is tried again for ever. */
  async #read(position: number): Promise<Reading | undefined> {
    try {
      return this.#source.next(position)
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error
      this.#told({ err: error, repeats: true }, 'following the log is interrupted; trying again')
      await pause(RETRY_PAUSE, undefined, { ref: false })
      return undefined
    }
  }
}
