import type { AppLogger } from '../../runtime/logger.ts'
import type { SubscriptionBatch, EventStore, PositionOrStart } from '../../stores/ports/event-store.ts'
import { consumeBatches } from './consume-batches.ts'
import { Loop, type RunCounters } from './loop.ts'
import { LocalProgress } from './progress.ts'

/** One run of a consumer: where it starts, and how it handles each batch. */
export type ConsumerRun = {
  readonly from: PositionOrStart
  /** Resolves when the batch is handled. Its checkpoint has been written, or will be. */
  handleBatch(batch: SubscriptionBatch): Promise<void>
  /** Writes what is pending at the end of the run, also after a failure. */
  flush(): Promise<void>
  /** Aborted when the run must end though no batch arrives: the next one begins with another build. */
  readonly signal?: AbortSignal
}

/** What differs between read models and reactions: how they handle events and store checkpoints. */
export type EventConsumer = {
  readonly name: string
  /** Prefixes of the streams it subscribes to, including its stream of retry requests. */
  readonly prefixes: readonly string[]
  /** Milliseconds that it may lag at the head while no request waits for it. */
  readonly maxLagMs?: number
  /** @returns undefined if stopped before it could begin */
  beginRun(signal: AbortSignal): Promise<ConsumerRun | undefined>
}

/** Subscribes to the log in batches, and restarts from the checkpoint after a failure, until it is stopped. */
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

  /** Runs in the background; see `progress`. Can be called again after a stop. */
  start(): void {
    this.#loop.start()
  }

  get counters(): RunCounters {
    return this.#loop.counters
  }

  /** Ends after the batch under way, or without waiting for it if it takes long (see `Loop.stop`). */
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
      const endSignal = AbortSignal.any([signal, run.signal ?? signal])
      await consumeBatches(this.store, { from: run.from, prefixes }, take, endSignal)
    } finally {
      await run.flush()
    }
  }
}
