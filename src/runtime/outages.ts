/** An error of a store, such as StoreUnavailable, that names the store. */
type NamedStoreError = Error & { readonly store: string }

/**
 * The store's error in a log entry marked by `repeats: true`; undefined for all other entries, which are logged in
 * full: an unrecorded expiry of a secret, for example, must always be visible.
 */
export function findRepeatedStoreError(entry: unknown): NamedStoreError | undefined {
  if (typeof entry !== 'object' || entry === null || !('repeats' in entry && 'err' in entry)) return undefined
  return isNamedStoreError(entry.err) ? entry.err : undefined
}

const isNamedStoreError = (error: unknown): error is NamedStoreError =>
  error instanceof Error && 'store' in error && typeof error.store === 'string'

type LogFields = Readonly<Record<string, unknown>>

type OutageLogger = Readonly<Record<'error' | 'warn' | 'info', LogLineWriter>>

/** Outages of stores. All work that encounters the same store shares one outage. */
export class StoreOutages {
  readonly #outages = new Map<string, Outage<NamedStoreError>>()

  constructor(private readonly log: OutageLogger) {}

  recordFailure(fault: NamedStoreError, fields: LogFields): void {
    const outage = this.#outages.get(fault.store) ?? this.#begin(fault.store)
    outage.recordFailure(fault, fields)
  }

  #begin(store: string): Outage<NamedStoreError> {
    const { log } = this
    const outage = new Outage<NamedStoreError>({
      reportStart: ({ message: reason }, fields) =>
        log.error({ ...fields, store, reason }, 'a store is unavailable; reported once a minute'),
      reportOngoing: ({ message: reason }, figures) =>
        log.warn({ store, ...figures, reason }, 'a store is still unavailable'),
      reportEnd: (figures) => log.info({ store, ...figures }, 'the outage is over: nothing has failed for 10 s'),
    })
    this.#outages.set(store, outage)
    this.#scheduleEnd(store, outage, QUIET_MS)
    return outage
  }

  #scheduleEnd(store: string, outage: Outage<NamedStoreError>, ms: number): void {
    const end = () => {
      const remainingMs = QUIET_MS - outage.quietMs
      if (remainingMs > 0) return this.#scheduleEnd(store, outage, remainingMs)
      this.#outages.delete(store)
      outage.end()
    }
    setTimeout(end, ms).unref()
  }
}

type OutageReporter<Failure> = {
  reportStart(failure: Failure, fields: LogFields): void
  reportOngoing(failure: Failure, figures: LogFields): void
  reportEnd(figures: LogFields): void
}

/**
 * Summarizes repeated failures: one line at the start, one per minute with their number, and one at the end. Otherwise
 * hundreds of requests a second would log a line each.
 */
class Outage<Failure> {
  #failures = 0
  #startedAt = 0
  #lastReportAt = 0
  #lastFailureAt = 0

  constructor(private readonly reporter: OutageReporter<Failure>) {}

  get quietMs(): number {
    return performance.now() - this.#lastFailureAt
  }

  /** @param fields further fields of the first line, such as the request */
  recordFailure(failure: Failure, fields: LogFields = {}): void {
    const now = (this.#lastFailureAt = performance.now())
    if (++this.#failures === 1) {
      this.#startedAt = this.#lastReportAt = now
      this.reporter.reportStart(failure, fields)
    } else if (now - this.#lastReportAt >= REPORT_INTERVAL_MS) {
      this.#lastReportAt = now
      this.reporter.reportOngoing(failure, this.#figures)
    }
  }

  /** Reports the end of the outage, if there was one. */
  end(): void {
    if (this.#failures > 0) this.reporter.reportEnd(this.#figures)
    this.#failures = 0
  }

  get #figures(): LogFields {
    return { failures: this.#failures, seconds: Math.round((this.#lastFailureAt - this.#startedAt) / 1_000) }
  }
}

const REPORT_INTERVAL_MS = 60_000

/** Milliseconds without a failure after which a store's outage is over; callers retry more often than that. */
const QUIET_MS = 10_000

/** Reports interruptions of work that is retried until it succeeds. */
export class Interruption {
  readonly #outage: Outage<unknown>

  constructor(
    private readonly name: string,
    private readonly log: Pick<OutageLogger, 'warn' | 'info'>,
  ) {
    this.#outage = new Outage<unknown>({
      reportStart: (err) => log.warn({ err, name }, INTERRUPTED_MESSAGE),
      reportOngoing: (err, figures) => log.warn({ err, name, ...figures }, 'still interrupted; trying again'),
      reportEnd: (figures) => log.info({ name, ...figures }, 'resumed after an interruption'),
    })
  }

  recordFailure(error: unknown): void {
    // A store's outage is reported and counted once, for all work that encounters it.
    if (isNamedStoreError(error)) this.log.warn({ err: error, name: this.name, repeats: true }, INTERRUPTED_MESSAGE)
    else this.#outage.recordFailure(error)
  }

  end(): void {
    this.#outage.end()
  }
}

const INTERRUPTED_MESSAGE = 'interrupted; trying again'

type LogLineWriter = (fields: LogFields, message: string) => void
