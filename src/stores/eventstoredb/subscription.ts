import { comparePositions, type Batch, type Filter, type From, type Subscription } from '../ports/event-store.ts'
import { News } from '../log/news.ts'
import { History, type HistoryOptions } from './history.ts'
import { Rest } from './rest.ts'

/**
 * Follows the log by pulling: from the live feed's memory where that reaches, else from the server, which is held back
 * while the subscriber is busy. Whatever breaks is taken up again where it was, after a pause that grows.
 */
export class LogSubscription implements Subscription {
  readonly #rest: Rest
  readonly #news = new News()
  #stopped = false
  #history: History | undefined
  #position: From

  constructor(
    private readonly options: HistoryOptions,
    from: From,
    private readonly filter: Filter | undefined,
  ) {
    this.#rest = new Rest(options.timing)
    this.#position = from
  }

  stop(): void {
    this.#stopped = true
    this.#history?.close()
    this.#rest.wake()
    this.#news.tell()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Batch, void, undefined> {
    const leave = await this.#follow()
    let announced = false
    try {
      while (!this.#stopped) {
        this.#news.forget()
        const batch = this.options.feed.behind(this.#position, this.filter)
        if (batch === undefined) {
          yield* this.#old()
          continue
        }
        const moved = comparePositions(batch.position, this.#position) > 0
        this.#position = batch.position
        if (moved || !announced) yield batch
        announced = true
        // Behind, and nothing there at all: what is known to exist is on its way. A page in which nothing passed is not
        // the end of the log.
        if (batch.caughtUp || !moved) await this.#news.wait()
      }
    } finally {
      leave()
    }
  }

  /** Resolves when the feed listens, or it was stopped. */
  async #follow(): Promise<() => void> {
    while (!this.#stopped) {
      try {
        return await this.options.feed.follow(() => this.#news.tell())
      } catch (error) {
        await this.#interrupted(error)
      }
    }
    return () => {}
  }

  async *#old(): AsyncGenerator<Batch> {
    const history = new History(this.options, this.filter, this.#position)
    this.#history = history
    try {
      for await (const batch of history.read()) {
        this.#position = batch.position
        this.#rest.short()
        if (this.#stopped) return
        yield batch
        if (this.#stopped) return
      }
      this.#position = history.position
    } catch (error) {
      await this.#interrupted(error)
    }
  }

  /** What breaks by its own stop is no failure. */
  #interrupted(error: unknown): Promise<void> {
    if (!this.#stopped) this.options.interrupted(error)
    return this.#rest.sleep()
  }
}
