import { StoreUnavailable, type From } from '../../stores/ports/event-store.ts'

/** What is known of a log that may be away. */
export type KnownLog = {
  /** When it last answered anything, in milliseconds of the monotonic clock. */
  readonly answeredAt: number
  /** The newest position that this process knows of. */
  readonly newest: From
  /** Whether it is away, for who has met a failure. */
  isAway(): Promise<boolean>
}

/** Whether reads go on without the log, and how old what they tell may be. */
export class StaleReads {
  /**
   * @param log undefined where it lies beside its readers and is never away by itself
   * @param seconds for which reads go on: STALE_READS
   * @param monotonic milliseconds that never go back
   */
  constructor(
    private readonly log: KnownLog | undefined,
    private readonly seconds: number,
    private readonly monotonic: () => number = () => performance.now(),
  ) {}

  /** The newest position that this process knows of. */
  get newest(): From {
    return this.log?.newest ?? 'start'
  }

  /**
   * Whole seconds since the log last answered.
   * @param error what a call of the log has failed with
   * @param confirmedAt when what is told was known to be so, where that is another time (ms of the monotonic clock)
   * @throws the error, unless the log is away, and has not been for longer than STALE_READS
   */
  async age(error: unknown, confirmedAt?: number): Promise<number> {
    const { log } = this
    if (log === undefined || !(error instanceof StoreUnavailable) || !(await log.isAway())) throw error
    const age = (this.monotonic() - (confirmedAt ?? log.answeredAt)) / 1000
    if (age >= this.seconds) throw error
    return Math.floor(age)
  }
}

/** Where a log is never away, or nobody may read without it. */
export const NO_STALE_READS = new StaleReads(undefined, 0)
