import type { Log } from '../../runtime/log.ts'
import type { Batch, EventStore, From } from '../../stores/ports/event-store.ts'
import { follow } from './follow.ts'
import { Loop, type RunFigures } from './loop.ts'
import { OwnProgress } from './progress.ts'

/** Where a run of a follower begins, and what becomes of each batch in it. */
export type Run = {
  readonly from: From
  /** Resolves when the batch is done, and its checkpoint is written with it or will be. */
  take(batch: Batch): Promise<void>
  /** Writes what waits, at the end of the run, whatever became of it. */
  flush(): Promise<void>
}

/** What differs between a read model and a reaction: where what they have done is kept. */
export type Kept = {
  readonly name: string
  /** The streams that it follows, by prefix; its retries among them. */
  readonly prefixes: readonly string[]
  /** Milliseconds for which it may lag at the head while nobody waits for it. */
  readonly lag?: number
  /** @returns undefined where it was stopped before it could begin */
  begin(signal: AbortSignal): Promise<Run | undefined>
}

/** Follows the log, in batches, and begins again from its checkpoint whenever that fails, until it is stopped. */
export class Runner {
  readonly progress = new OwnProgress()
  readonly #loop: Loop

  constructor(
    private readonly kept: Kept,
    private readonly store: Pick<EventStore, 'subscribe'>,
    log: Log,
  ) {
    this.#loop = new Loop(kept.name, log, (signal) => this.#run(signal))
  }

  /** Starts to run in the background; `progress` tells how far it is. Again, too, after a stop. */
  start(): void {
    this.#loop.start()
  }

  get figures(): RunFigures {
    return this.#loop.figures
  }

  /** Ends after the batch under way, or without it where that takes long. */
  async stop(): Promise<void> {
    const ended = this.#loop.stop()
    this.progress.wake()
    await ended
  }

  async #run(signal: AbortSignal): Promise<void> {
    const run = await this.kept.begin(signal)
    if (run === undefined) return
    const { prefixes, lag = 0 } = this.kept
    this.progress.advance(run.from)
    const take = async (batch: Batch) => {
      await run.take(batch)
      this.progress.advance(batch.position)
      if (batch.caughtUp && !signal.aborted) await this.progress.unlessAwaited(lag)
    }
    try {
      await follow(this.store, { from: run.from, prefixes }, take, signal)
    } finally {
      await run.flush()
    }
  }
}
