import { CircuitBreaker, type BreakerPolicy } from '../../runtime/circuit-breaker.ts'
import {
  comparePositions,
  EventsRemoved,
  LogClosed,
  OutcomeUnknown,
  StoreMisconfigured,
  StoreUnavailable,
  WrongRevision,
  type EventStore,
  type PositionOrStart,
} from '../ports/event-store.ts'
import type { OutageWait } from './outage-wait.ts'

/** Whether the log may respond later, without a change of the settings. */
export const isLogOutage = (error: unknown): boolean => isStoreFailure(error) && !(error instanceof StoreMisconfigured)

/** A fenced log is not a failure of the server. */
const isStoreFailure = (error: unknown): boolean =>
  (error instanceof StoreUnavailable && !(error instanceof LogClosed)) || error instanceof OutcomeUnknown

type GuardedLog = {
  /**
   * Its calls fail fast while the breaker is open, or wait during a start. Subscriptions do not pass the breaker; they
   * retry automatically.
   */
  readonly store: EventStore
  /** For all calls. */
  readonly breaker: CircuitBreaker
  /** For appends only, in addition to `breaker`. */
  readonly appendBreaker: CircuitBreaker
  newestPosition(): PositionOrStart
}

/** @param startWait lets calls wait while the log is unavailable, until it ends */
export function guardLog(log: EventStore, name: string, startWait?: Pick<OutageWait, 'call'>): GuardedLog {
  let newest: PositionOrStart = 'start'
  const recordPosition = <Position extends PositionOrStart>(position: Position): Position => {
    if (comparePositions(position, newest) > 0) newest = position
    return position
  }
  const lastResponseAt = () => log.lastResponseAt?.() ?? Number.NEGATIVE_INFINITY
  const breaker = new CircuitBreaker(allCallsPolicy(name, async () => recordPosition(await log.head()), lastResponseAt))
  const appendBreaker = new CircuitBreaker(appendsPolicy(name))
  const toOutcomeUnknown = (reason: Error) =>
    new OutcomeUnknown(`${reason.message}; the outcome of a pending append is unknown`, {
      cause: reason,
      store: name,
    })
  const waiting = <Answer>(call: () => Promise<Answer>) => startWait?.call(call) ?? call()
  const read = <Answer>(call: () => Promise<Answer>) => waiting(() => breaker.call(call))
  const append = <Answer>(call: () => Promise<Answer>) =>
    waiting(() => appendBreaker.call(() => breaker.call(call, toOutcomeUnknown)))

  async function* readAll(...args: Parameters<EventStore['readAll']>) {
    const events = log.readAll(...args)[Symbol.asyncIterator]()
    try {
      for (;;) {
        const next = await breaker.call(() => events.next())
        if (next.done === true) return
        yield next.value
      }
    } finally {
      // Not awaited: a read that hangs ends only when the server is reachable again.
      events.return?.().catch(() => undefined)
    }
  }

  const store: EventStore = {
    isAppendManyAtomic: log.isAppendManyAtomic,
    fenceDelayMs: log.fenceDelayMs,
    append: (...args) => append(async () => recordPosition(await log.append(...args))),
    appendMany: (...args) => append(async () => (await log.appendMany(...args)).map(recordPosition)),
    readStream: (...args) => read(() => log.readStream(...args)),
    readAll,
    subscribe: (...args) => log.subscribe(...args),
    head: () => read(async () => recordPosition(await log.head())),
    isHeadLocal: log.isHeadLocal,
    eventAt: (position) => read(() => log.eventAt(position)),
    // Both may be cached, so their success says nothing about the server's health: they bypass the breaker.
    identity: () => waiting(() => log.identity()),
    diskErrorMessage: () => log.diskErrorMessage(),
    closedReason: () => read(() => log.closedReason()),
    close: () => log.close(),
  }
  return { store, breaker, appendBreaker, newestPosition: () => newest }
}

/** Opens if the head cannot be read or the server is silent. While open, it probes the head every 250 ms. */
const allCallsPolicy = (
  store: string,
  readHead: () => Promise<PositionOrStart>,
  lastResponseAt: () => number,
): BreakerPolicy => ({
  store,
  calls: 'all',
  resetTimeoutMs: 250,
  probe: { ask: readHead, heardAt: lastResponseAt, noResponseMessage: `${store}: the log does not respond` },
  verdict(error) {
    if (error instanceof WrongRevision || error instanceof EventsRemoved) return 'up'
    return isStoreFailure(error) ? 'doubtful' : 'nothing'
  },
  refusal: (reason) => new StoreUnavailable(reason.message, { cause: reason, store }),
})

/**
 * For a log that serves reads but not appends, such as a leader without followers. While open, one append at a time is
 * let through as a trial, 500 ms after the previous one; all others are rejected immediately.
 */
const appendsPolicy = (store: string): BreakerPolicy => ({
  store,
  calls: 'appends',
  resetTimeoutMs: 500,
  verdict(error, elapsedMs) {
    if (error instanceof OutcomeUnknown) return elapsedMs >= APPEND_RESPONSE_TIMEOUT_MS ? 'down' : 'nothing'
    return error instanceof StoreUnavailable ? 'nothing' : 'up'
  },
  refusal: () => new StoreUnavailable(`${store}: the log responds to reads but not to appends`, { store }),
})

/** An append that got no response for this long, in milliseconds, opens the breaker for appends. */
const APPEND_RESPONSE_TIMEOUT_MS = 1_000
