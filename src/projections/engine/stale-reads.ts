import type { CircuitBreaker } from '../../runtime/circuit-breaker.ts'
import { StoreUnavailable, type PositionOrStart } from '../../stores/ports/event-store.ts'

type LogAvailability = {
  readonly breaker: Pick<CircuitBreaker, 'answeredAt' | 'settledState'>
  /** The newest position known to this process. */
  newestPosition(): PositionOrStart
}

/** Whether reads continue while the event log is unavailable, and how old their data may be. */
export class StaleReadPolicy {
  /**
   * @param log undefined if the log is embedded and never unavailable on its own
   * @param maxAgeSeconds that reads continue after the log's last response: STALE_READS
   * @param monotonic milliseconds of a clock that never goes back
   */
  constructor(
    private readonly log: LogAvailability | undefined,
    private readonly maxAgeSeconds: number,
    private readonly monotonic: () => number = () => performance.now(),
  ) {}

  get newestPosition(): PositionOrStart {
    return this.log?.newestPosition() ?? 'start'
  }

  /**
   * Whole seconds since the log's last response.
   * @param error of the failed call
   * @param confirmedAt when the data was known to be current, if not then (ms of the monotonic clock)
   * @throws the error, unless the log is unavailable and has been for less than STALE_READS seconds
   */
  async ageSecondsOrThrow(error: unknown, confirmedAt?: number): Promise<number> {
    if (this.log === undefined || !(error instanceof StoreUnavailable)) throw error
    const { breaker } = this.log
    if ((await breaker.settledState()) === 'closed') throw error
    const ageSeconds = (this.monotonic() - (confirmedAt ?? breaker.answeredAt)) / 1000
    if (ageSeconds >= this.maxAgeSeconds) throw error
    return Math.floor(ageSeconds)
  }
}

/** For an embedded log, or if stale reads are off. */
export const NO_STALE_READS = new StaleReadPolicy(undefined, 0)
