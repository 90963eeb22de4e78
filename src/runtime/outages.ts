/** Milliseconds between two lines about an outage that goes on. */
const REPORT_INTERVAL_MS = 60_000
/** Milliseconds without a failure after which a store's outage is over: callers that retry do so more often. */
const QUIET_MS = 10_000

type LogFields = Readonly<Record<string, unknown>>
type LogLineWriter = (fields: LogFields, message: string) => void

/** Where lines go, by their level. */
type OutageLogger = Readonly<Record<'error' | 'warn' | 'info', LogLineWriter>>

/** Writes the lines of one outage. */
type OutageReporter<Failure> = {
  reportStart(failure: Failure, fields: LogFields): void
  reportOngoing(failure: Failure, figures: LogFields): void
  reportEnd(figures: LogFields): void
}

/**
 * Something that fails again and again, in few lines: one when it begins, one a minute with what it has cost, and one when
 * it is over. Hundreds of requests a second would write one each otherwise.
 */
class Outage<Failure> {
  #failures = 0
  #since = 0
  #lastReportAt = 0
  #lastFailureAt = 0

  constructor(private readonly reporter: OutageReporter<Failure>) {}

  /** Milliseconds since it failed last. */
  get quietMs(): number {
    return performance.now() - this.#lastFailureAt
  }

  /** @param fields what a line of its own would say besides: by whom or for which request */
  recordFailure(failure: Failure, fields: LogFields = {}): void {
    const now = (this.#lastFailureAt = performance.now())
    if (++this.#failures === 1) {
      this.#since = this.#lastReportAt = now
      this.reporter.reportStart(failure, fields)
    } else if (now - this.#lastReportAt >= REPORT_INTERVAL_MS) {
      this.#lastReportAt = now
      this.reporter.reportOngoing(failure, this.#figures)
    }
  }

  /** Nothing, where nothing has failed. */
  end(): void {
    if (this.#failures > 0) this.reporter.reportEnd(this.#figures)
    this.#failures = 0
  }

  get #figures(): LogFields {
    return { failures: this.#failures, seconds: Math.round((this.#lastFailureAt - this.#since) / 1_000) }
  }
}

/** An error of a store, such as the ports' StoreUnavailable, which names that store. */
export type NamedStoreError = Error & { readonly store: string }

const isNamedStoreError = (error: unknown): error is NamedStoreError =>
  error instanceof Error && 'store' in error && typeof error.store === 'string'

/**
 * The fault of a store in an entry that is marked as one of many alike by `repeats: true`; undefined for whatever else the
 * log is told: that a secret's end is not on record, say, is told whatever it comes of.
 */
export function findRepeatedStoreError(entry: unknown): NamedStoreError | undefined {
  if (typeof entry !== 'object' || entry === null || !('repeats' in entry && 'err' in entry)) return undefined
  return isNamedStoreError(entry.err) ? entry.err : undefined
}

/** The outages of stores, each told once for all who meet it. */
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
        log.error({ ...fields, store, reason }, 'a store is away; telling once a minute'),
      reportOngoing: ({ message: reason }, figures) => log.warn({ store, ...figures, reason }, 'a store is still away'),
      reportEnd: (figures) => log.info({ store, ...figures }, 'the outage is over: nothing has failed for 10 s'),
    })
    this.#outages.set(store, outage)
    this.#scheduleEnd(store, outage, QUIET_MS)
    return outage
  }

  #scheduleEnd(store: string, outage: Outage<NamedStoreError>, ms: number): void {
    const end = () => {
      const left = QUIET_MS - outage.quietMs
      if (left > 0) return this.#scheduleEnd(store, outage, left)
      this.#outages.delete(store)
      outage.end()
    }
    setTimeout(end, ms).unref()
  }
}

/** Work that is tried again for as long as it fails. */
export class Interruption {
  readonly #outage: Outage<unknown>

  constructor(
    private readonly name: string,
    private readonly log: Pick<OutageLogger, 'warn' | 'info'>,
  ) {
    this.#outage = new Outage<unknown>({
      reportStart: (err) => log.warn({ err, name }, INTERRUPTED_MESSAGE),
      reportOngoing: (err, figures) => log.warn({ err, name, ...figures }, 'still interrupted; trying again'),
      reportEnd: (figures) => log.info({ name, ...figures }, 'goes on after an interruption'),
    })
  }

  recordFailure(error: unknown): void {
    // A store's outage is told once for all who meet it, and counted there.
    if (isNamedStoreError(error)) this.log.warn({ err: error, name: this.name, repeats: true }, INTERRUPTED_MESSAGE)
    else this.#outage.recordFailure(error)
  }

  end(): void {
    this.#outage.end()
  }
}

const INTERRUPTED_MESSAGE = 'interrupted; trying again'
