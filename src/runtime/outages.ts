import { OutcomeUnknown, StoreUnavailable } from '../stores/ports/event-store.ts'

/** Milliseconds between two lines about an outage that goes on. */
const EVERY = 60_000
/** Milliseconds without a failure after which an outage is over: whoever goes on trying does so more often. */
const QUIET = 10_000

/** What the messages of a server's store begin with is its name; those of files begin with a path or a small letter. */
const STORE = /^[A-Z]\w+(?=: | at )/

type Fields = Readonly<Record<string, unknown>>
type Level = 'error' | 'warn' | 'info'
type Outage = { failures: number; readonly since: number; toldAt: number; lastAt: number }

/** The two things that a clock is asked; milliseconds. */
export type Clock = { now(): number; later(ms: number, run: () => void): void }

const CLOCK: Clock = {
  now: () => performance.now(),
  later: (ms, run) => void setTimeout(run, ms).unref(),
}

/**
 * Tells of a store that is away in one line when that begins, one a minute with what it has cost, and one when it is over;
 * hundreds of requests a second would write one each otherwise.
 */
export class Outages {
  readonly #open = new Map<string, Outage>()

  constructor(
    private readonly write: (level: Level, fields: Fields, message: string) => void,
    private readonly clock: Clock = CLOCK,
  ) {}

  /** @param fields what its entry in the log would say besides: by whom or for which request */
  failed(error: Error, fields: Fields): void {
    const store = STORE.exec(error.message)?.[0] ?? 'a file or disk'
    const now = this.clock.now()
    const outage = this.#open.get(store)
    if (outage === undefined) {
      this.#open.set(store, { failures: 1, since: now, toldAt: now, lastAt: now })
      this.write('error', { ...fields, store, reason: error.message }, 'a store is away; telling once a minute')
      this.#look(store, QUIET)
      return
    }
    outage.failures++
    outage.lastAt = now
    if (now - outage.toldAt < EVERY) return
    outage.toldAt = now
    this.write('warn', { store, ...this.#figures(outage), reason: error.message }, 'a store is still away')
  }

  #look(store: string, ms: number): void {
    this.clock.later(ms, () => {
      const outage = this.#open.get(store)
      if (outage === undefined) return
      const left = outage.lastAt + QUIET - this.clock.now()
      if (left > 0) return this.#look(store, left)
      this.#open.delete(store)
      this.write('info', { store, ...this.#figures(outage) }, 'the outage is over: nothing has failed for 10 s')
    })
  }

  #figures({ failures, since, lastAt }: Outage): Fields {
    return { failures, seconds: Math.round((lastAt - since) / 1_000) }
  }
}

/**
 * The fault of a store that is away, in an entry that is marked as one of many alike by `repeats: true`; undefined for
 * whatever else the log is told: that a secret's end is not on record, say, is told whatever it comes of.
 */
export function storeFaultIn(entry: unknown): Error | undefined {
  if (!isMarked(entry)) return undefined
  const { err } = entry
  return err instanceof StoreUnavailable || err instanceof OutcomeUnknown ? err : undefined
}

const isMarked = (entry: unknown): entry is { readonly repeats: true; readonly err?: unknown } =>
  typeof entry === 'object' && entry !== null && 'repeats' in entry
