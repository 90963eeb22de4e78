import { MAX_ATTEMPTS } from '../../src/commands/core/retry.ts'
import { OutcomeUnknown, StoreUnavailable, type EventStore } from '../../src/stores/ports/event-store.ts'

/**
 * What happens to an append:
 * - `lost`: times out, not stored
 * - `stored`: times out, but stored
 * - `late`: times out; stored when `storeLateAppends()` is called
 * - `unavailable`: rejected, not stored
 */
export type AppendFault = 'lost' | 'stored' | 'late' | 'unavailable'

/** The same fault for every attempt of one command. */
export const everyAttempt = (fault: AppendFault): AppendFault[] => Array.from({ length: MAX_ATTEMPTS }, () => fault)

export type FaultyStore = EventStore & {
  /** The next calls of `append` or `appendMany` fail with these faults, one each; later calls succeed. */
  failNext(...faults: readonly AppendFault[]): void
  /** Stores the late appends in order. @returns for each its error, or undefined if it succeeded */
  storeLateAppends(): Promise<unknown[]>
}

/** Wraps a store so that its appends fail on demand. */
export function faultyStore(store: EventStore): FaultyStore {
  const faults: AppendFault[] = []
  const late: (() => Promise<unknown>)[] = []

  async function attempt<Result>(append: () => Promise<Result>): Promise<Result> {
    const fault = faults.shift()
    if (fault === undefined) return append()
    if (fault === 'unavailable') throw new StoreUnavailable('the store was made unavailable')
    if (fault === 'stored') await append()
    if (fault === 'late') late.push(append)
    throw new OutcomeUnknown(`the append was made to time out (${fault})`)
  }

  return {
    isAppendManyAtomic: store.isAppendManyAtomic,
    append: (stream, expected, events) => attempt(() => store.append(stream, expected, events)),
    appendMany: (...args) => attempt(() => store.appendMany(...args)),
    readStream: (stream, options) => store.readStream(stream, options),
    eventAt: (position) => store.eventAt(position),
    readAll: (from, filter) => store.readAll(from, filter),
    subscribe: (from, filter) => store.subscribe(from, filter),
    head: () => store.head(),
    isHeadLocal: store.isHeadLocal,
    identity: () => store.identity(),
    closedReason: () => store.closedReason(),
    diskErrorMessage: () => store.diskErrorMessage(),
    fenceDelayMs: store.fenceDelayMs,
    close: () => store.close(),
    failNext: (...next) => void faults.push(...next),
    storeLateAppends: () =>
      Promise.all(
        late.splice(0).map((append) =>
          append().then(
            () => undefined,
            (error: unknown) => error,
          ),
        ),
      ),
  }
}
