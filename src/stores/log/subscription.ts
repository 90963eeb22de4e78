import {
  comparePositions,
  type PositionOrStart,
  type StreamFilter,
  type Subscription,
  type SubscriptionBatch,
} from '../ports/event-store.ts'
import { BackOff, type BackOffTiming } from './back-off.ts'
import type { LogTail } from './tail.ts'
import { WakeSignal } from './wake-signal.ts'

/** Where a subscription gets its events. */
export type SubscriptionSource = {
  /** The tail's `batchAfter`. */
  batchAfter: LogTail['batchAfter']
  /** Resolves once events are added to the tail. @returns ends following */
  follow(wake: () => void): Promise<() => void>
  /**
   * Reads older events from the store. Ends when the tail contains all events after the last batch, or when the signal is
   * aborted.
   */
  catchUp(
    from: PositionOrStart,
    filter: StreamFilter | undefined,
    signal: AbortSignal,
  ): AsyncIterable<SubscriptionBatch>
  /** Reports a failure of `follow` or `catchUp`, which is then repeated. @throws the error if that is pointless */
  onFailure(error: unknown): void
  readonly backOff: BackOffTiming
}

/**
 * A pull-based subscription with back-pressure: it takes the next batch only after the previous one was consumed. It
 * reads from the tail's memory if that reaches back far enough, otherwise from the store. After a failure it resumes at
 * its position, with back-off.
 */
export class LogSubscription implements Subscription {
  readonly #signal = new WakeSignal()
  readonly #stop = new AbortController()
  readonly #backOff: BackOff
  #position: PositionOrStart

  constructor(
    private readonly source: SubscriptionSource,
    from: PositionOrStart,
    private readonly filter: StreamFilter | undefined,
  ) {
    this.#backOff = new BackOff(source.backOff)
    this.#position = from
  }

  stop(): void {
    this.#stop.abort()
    this.#backOff.wake()
    this.#signal.notify()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<SubscriptionBatch, void, undefined> {
    const unfollow = await this.#follow()
    let hasCaughtUp = false
    try {
      while (!this.#isStopped) {
        this.#signal.reset()
        const batch = this.source.batchAfter(this.#position, this.filter)
        if (batch === undefined) {
          hasCaughtUp = yield* this.#catchUp()
          continue
        }
        const hasAdvanced = comparePositions(batch.position, this.#position) > 0
        this.#position = batch.position
        if (hasAdvanced || (batch.caughtUp && !hasCaughtUp)) yield batch
        hasCaughtUp = batch.caughtUp
        // A batch whose events were all filtered out is not the end of the log.
        if (batch.caughtUp || !hasAdvanced) await this.#signal.wait()
      }
    } finally {
      unfollow()
    }
  }

  get #isStopped(): boolean {
    return this.#stop.signal.aborted
  }

  async #follow(): Promise<() => void> {
    while (!this.#isStopped) {
      try {
        return await this.source.follow(() => this.#signal.notify())
      } catch (error) {
        await this.#handleFailure(error)
      }
    }
    return () => undefined
  }

  /** @returns whether the last batch reached the head of the log */
  async *#catchUp(): AsyncGenerator<SubscriptionBatch, boolean, undefined> {
    let hasCaughtUp = false
    try {
      for await (const batch of this.source.catchUp(this.#position, this.filter, this.#stop.signal)) {
        if (this.#isStopped) break
        this.#position = batch.position
        this.#backOff.reset()
        yield batch
        hasCaughtUp = batch.caughtUp
      }
    } catch (error) {
      await this.#handleFailure(error)
    }
    return hasCaughtUp
  }

  /** Errors caused by its own stop are not reported. */
  async #handleFailure(error: unknown): Promise<void> {
    if (this.#isStopped) return
    this.source.onFailure(error)
    await this.#backOff.sleep()
  }
}
