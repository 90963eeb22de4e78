import type { AppLogger } from '../../runtime/logger.ts'
import type { SubscriptionBatch, EventStore, PositionOrStart } from '../../stores/ports/event-store.ts'
import { consumeBatches } from './consume-batches.ts'
import { Loop, type RunCounters } from './loop.ts'
import { LocalProgress } from './progress.ts'

/** Where a run of a follower begins, and what becomes of each batch in it. */
export type ConsumerRun = {
  readonly from: PositionOrStart
  /** Resolves when the batch is done, and its checkpoint is written with it or will be. */
  handleBatch(batch: SubscriptionBatch): Promise<void>
  /** Writes what waits, at the end of the run, whatever became of it. */
  flush(): Promise<void>
}

/** What differs between a read model and a reaction: where what they have done is kept. */
export type EventConsumer = {
  readonly name: string
  /** The streams that it follows, by prefix; its retries among them. */
  readonly prefixes: readonly string[]
  /** Milliseconds for which it may lag at the head while nobody waits for it. */
  readonly maxLagMs?: number
  /** @returns undefined where it was stopped before it could begin */
  beginRun(signal: AbortSignal): Promise<ConsumerRun | undefined>
}

/** Follows the log, in batches, and begins again from its checkpoint whenever that fails, until it is stopped. */
export class ConsumerRunner {
  readonly progress = new LocalProgress()
  readonly #loop: Loop

  constructor(
    private readonly consumer: EventConsumer,
    private readonly store: Pick<EventStore, 'subscribe'>,
    log: AppLogger,
  ) {
    this.#loop = new Loop(consumer.name, log, (signal) => this.#run(signal))
  }

  /** Starts to run in the background; `progress` tells how far it is. Again, too, after a stop. */
  start(): void {
    this.#loop.start()
  }

  get counters(): RunCounters {
    return this.#loop.counters
  }

  /** Ends after the batch under way, or without it where that takes long. */
  async stop(): Promise<void> {
    const ended = this.#loop.stop()
    this.progress.wake()
    await ended
  }

  async #run(signal: AbortSignal): Promise<void> {
    const run = await this.consumer.beginRun(signal)
    if (run === undefined) return
    const { prefixes, maxLagMs = 0 } = this.consumer
    this.progress.advance(run.from)
    const take = async (batch: SubscriptionBatch) => {
      await run.handleBatch(batch)
      this.progress.advance(batch.position)
      if (batch.caughtUp && !signal.aborted) await this.progress.pauseUnlessAwaited(maxLagMs)
    }
    try {
      await consumeBatches(this.store, { from: run.from, prefixes }, take, signal)
    } finally {
      await run.flush()
    }
  }
}
