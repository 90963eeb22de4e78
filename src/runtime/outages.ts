/** Milliseconds between two lines about an outage that goes on. */
const EVERY = 60_000
/** Milliseconds without a failure after which a store's outage is over: callers that retry do so more often. */
const QUIET = 10_000

type Fields = Readonly<Record<string, unknown>>
type Write = (fields: Fields, message: string) => void

/** Where lines go, by their level. */
type Lines = Readonly<Record<'error' | 'warn' | 'info', Write>>

/** Writes the lines of one outage. */
type LinesOf<Failure> = {
  begins(failure: Failure, fields: Fields): void
  goesOn(failure: Failure, figures: Fields): void
  isOver(figures: Fields): void
}

/**
 * Something that fails again and again, in few lines: one when it begins, one a minute with what it has cost, and one when
 * it is over. Hundreds of requests a second would write one each otherwise.
 */
class Outage<Failure> {
  #failures = 0
  #since = 0
  #toldAt = 0
  #lastAt = 0

  constructor(private readonly lines: LinesOf<Failure>) {}

  /** Milliseconds since it failed last. */
  get quietMs(): number {
    return performance.now() - this.#lastAt
  }

  /** @param fields what a line of its own would say besides: by whom or for which request */
  failed(failure: Failure, fields: Fields = {}): void {
    const now = (this.#lastAt = performance.now())
    if (++this.#failures === 1) {
      this.#since = this.#toldAt = now
      this.lines.begins(failure, fields)
    } else if (now - this.#toldAt >= EVERY) {
      this.#toldAt = now
      this.lines.goesOn(failure, this.#figures)
    }
  }

  /** Nothing, where nothing has failed. */
  over(): void {
    if (this.#failures > 0) this.lines.isOver(this.#figures)
    this.#failures = 0
  }

  get #figures(): Fields {
    return { failures: this.#failures, seconds: Math.round((this.#lastAt - this.#since) / 1_000) }
  }
}

/** An error of a store, such as the ports' StoreUnavailable, which names that store. */
export type StoreFault = Error & { readonly store: string }

const isStoreFault = (error: unknown): error is StoreFault =>
  error instanceof Error && 'store' in error && typeof error.store === 'string'

/**
 * The fault of a store in an entry that is marked as one of many alike by `repeats: true`; undefined for whatever else the
 * log is told: that a secret's end is not on record, say, is told whatever it comes of.
 */
export function storeFaultIn(entry: unknown): StoreFault | undefined {
  if (typeof entry !== 'object' || entry === null || !('repeats' in entry && 'err' in entry)) return undefined
  return isStoreFault(entry.err) ? entry.err : undefined
}

/** The outages of stores, each told once for all who meet it. */
export class StoreOutages {
  readonly #outages = new Map<string, Outage<StoreFault>>()

  constructor(private readonly log: Lines) {}

  failed(fault: StoreFault, fields: Fields): void {
    const outage = this.#outages.get(fault.store) ?? this.#begin(fault.store)
    outage.failed(fault, fields)
  }

  #begin(store: string): Outage<StoreFault> {
    const { log } = this
    const outage = new Outage<StoreFault>({
      begins: ({ message: reason }, fields) =>
        log.error({ ...fields, store, reason }, 'a store is away; telling once a minute'),
      goesOn: ({ message: reason }, figures) => log.warn({ store, ...figures, reason }, 'a store is still away'),
      isOver: (figures) => log.info({ store, ...figures }, 'the outage is over: nothing has failed for 10 s'),
    })
    this.#outages.set(store, outage)
    this.#endLater(store, outage, QUIET)
    return outage
  }

  #endLater(store: string, outage: Outage<StoreFault>, ms: number): void {
    const end = () => {
      const left = QUIET - outage.quietMs
      if (left > 0) return this.#endLater(store, outage, left)
      this.#outages.delete(store)
      outage.over()
    }
    setTimeout(end, ms).unref()
  }
}

/** Work that is tried again for as long as it fails. */
export class Interruption {
  readonly #outage: Outage<unknown>

  constructor(
    private readonly name: string,
    private readonly log: Pick<Lines, 'warn' | 'info'>,
  ) {
    this.#outage = new Outage<unknown>({
      begins: (err) => log.warn({ err, name }, BEGINS),
      goesOn: (err, figures) => log.warn({ err, name, ...figures }, 'still interrupted; trying again'),
      isOver: (figures) => log.info({ name, ...figures }, 'goes on after an interruption'),
    })
  }

  failed(error: unknown): void {
    // A store's outage is told once for all who meet it, and counted there.
    if (isStoreFault(error)) this.log.warn({ err: error, name: this.name, repeats: true }, BEGINS)
    else this.#outage.failed(error)
  }

  over(): void {
    this.#outage.over()
  }
}

const BEGINS = 'interrupted; trying again'
