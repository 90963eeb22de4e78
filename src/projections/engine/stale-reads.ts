import type { CircuitBreaker } from '../../runtime/circuit-breaker.ts'
import { StoreUnavailable, type PositionOrStart } from '../../stores/ports/event-store.ts'

/** A log that may be away. */
export type LogAvailability = {
  readonly breaker: Pick<CircuitBreaker, 'answeredAt' | 'settledState'>
  /** The newest position that this process knows of. */
  newestPosition(): PositionOrStart
}

/** Whether reads go on without the log, and how old what they tell may be. */
export class StaleReadPolicy {
  /**
   * @param log undefined where it lies beside its readers and is never away by itself
   * @param seconds for which reads go on: STALE_READS
   * @param monotonic milliseconds that never go back
   */
  constructor(
    private readonly log: LogAvailability | undefined,
    private readonly seconds: number,
    private readonly monotonic: () => number = () => performance.now(),
  ) {}

  /** The newest position that this process knows of. */
  get newestPosition(): PositionOrStart {
    return this.log?.newestPosition() ?? 'start'
  }

  /**
   * Whole seconds since the log last answered.
   * @param error what a call of the log has failed with
   * @param confirmedAt when what is told was known to be so, where that is another time (ms of the monotonic clock)
   * @throws the error, unless the log is away, and has not been for longer than STALE_READS
   */
  async ageSecondsOrThrow(error: unknown, confirmedAt?: number): Promise<number> {
    if (this.log === undefined || !(error instanceof StoreUnavailable)) throw error
    const { breaker } = this.log
    if ((await breaker.settledState()) === 'closed') throw error
    const age = (this.monotonic() - (confirmedAt ?? breaker.answeredAt)) / 1000
    if (age >= this.seconds) throw error
    return Math.floor(age)
  }
}

/** Where a log is never away, or nobody may read without it. */
export const NO_STALE_READS = new StaleReadPolicy(undefined, 0)
