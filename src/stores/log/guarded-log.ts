import { CircuitBreaker, type BreakerPolicy } from '../../runtime/circuit-breaker.ts'
import {
  comparePositions,
  LogClosed,
  OutcomeUnknown,
  StoreUnavailable,
  WrongRevision,
  type EventStore,
  type PositionOrStart,
} from '../ports/event-store.ts'

/** A log on a server behind circuit breakers. */
export type GuardedLog = {
  /** The same log; its calls fail at once while it is away. Subscriptions go on trying by themselves. */
  readonly store: EventStore
  /** Every call passes it. */
  readonly breaker: CircuitBreaker
  /** Appends pass it besides. */
  readonly appendBreaker: CircuitBreaker
  /** The newest position that this process knows of. */
  newestPosition(): PositionOrStart
}

/** An append without an answer for so many milliseconds tells that others will have none either. */
const UNANSWERED_MS = 1_000

/** Opens when the head can't be had, or nothing comes; the head is asked for four times a second until it answers. */
const allCallsPolicy = (store: string, ask: () => Promise<PositionOrStart>, heardAt: () => number): BreakerPolicy => ({
  store,
  calls: 'all',
  resetTimeoutMs: 250,
  probe: { ask, heardAt, noResponseMessage: `${store}: the log does not answer` },
  verdict(error) {
    if (error instanceof WrongRevision) return 'up'
    // That the log was moved is none of its faults.
    const isOfTheLog = error instanceof StoreUnavailable && !(error instanceof LogClosed)
    return isOfTheLog || error instanceof OutcomeUnknown ? 'doubtful' : 'nothing'
  },
  refusal: (reason) => new StoreUnavailable(reason.message, { cause: reason, store }),
})

/**
 * For a log that answers reads but no appends, such as a leader that has lost its followers: one append at a time is tried, half a
 * second after the last one, so that callers queued behind that one are rejected and do not wait twice.
 */
const appendsPolicy = (store: string): BreakerPolicy => ({
  store,
  calls: 'appends',
  resetTimeoutMs: 500,
  verdict(error, elapsedMs) {
    if (error instanceof OutcomeUnknown) return elapsedMs >= UNANSWERED_MS ? 'down' : 'nothing'
    return error instanceof StoreUnavailable ? 'nothing' : 'up'
  },
  refusal: () => new StoreUnavailable(`${store}: the log answers reads and no appends`, { store }),
})

/** @param name of its server, as people call it */
export function guardLog(log: EventStore, name: string): GuardedLog {
  let newest: PositionOrStart = 'start'
  const saw = <Position extends PositionOrStart>(position: Position): Position => {
    if (comparePositions(position, newest) > 0) newest = position
    return position
  }
  const heardAt = () => log.heardAt?.() ?? Number.NEGATIVE_INFINITY
  const breaker = new CircuitBreaker(allCallsPolicy(name, async () => saw(await log.head()), heardAt))
  const appends = new CircuitBreaker(appendsPolicy(name))
  const maybeStored = (reason: Error) =>
    new OutcomeUnknown(`${reason.message}; an append that was under way may be stored or not`, {
      cause: reason,
      store: name,
    })
  const append = <Answer>(call: () => Promise<Answer>) => appends.call(() => breaker.call(call, maybeStored))

  /** Fails where the log is away, and not for a connection that was lost and is there again. */
  async function head(): Promise<PositionOrStart> {
    const ask = () => breaker.call(async () => saw(await log.head()))
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || (await breaker.settledState()) !== 'closed') throw error
      return ask()
    }
  }

  async function* readAll(...asked: Parameters<EventStore['readAll']>) {
    const events = log.readAll(...asked)[Symbol.asyncIterator]()
    try {
      for (;;) {
        const next = await breaker.call(() => events.next())
        if (next.done === true) return
        yield next.value
      }
    } finally {
      // One that hangs ends when the log is back.
      events.return?.().catch(() => undefined)
    }
  }

  const store: EventStore = {
    isAppendManyAtomic: log.isAppendManyAtomic,
    fenceDelayMs: log.fenceDelayMs,
    append: (...asked) => append(async () => saw(await log.append(...asked))),
    appendMany: (...asked) => append(async () => (await log.appendMany(...asked)).map(saw)),
    read: (...asked) => breaker.call(() => log.read(...asked)),
    readAll,
    subscribe: (...asked) => log.subscribe(...asked),
    head,
    eventAt: (position) => breaker.call(() => log.eventAt(position)),
    // Both may be known here: that they are told says nothing about the log.
    identity: () => log.identity(),
    diskErrorMessage: () => log.diskErrorMessage(),
    closedReason: () => breaker.call(() => log.closedReason()),
    close: () => log.close(),
  }
  return { store, breaker, appendBreaker: appends, newestPosition: () => newest }
}
