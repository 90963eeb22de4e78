import { setTimeout as pause } from 'node:timers/promises'
import {
  comparePositions,
  LogClosed,
  OutcomeUnknown,
  StoreUnavailable,
  WrongRevision,
  type Append,
  type EventStore,
  type StoredEvent,
} from '../../stores/ports/event-store.ts'
import { Failed } from '../operation.ts'

/** Events that are read before they are written: one transaction on SQLite. */
export const AT_ONCE = 500
/** Milliseconds for which a store that is away is tried, and between two tries. */
const PATIENCE = 60_000
const RETRY = 250

/** Neighbours of one stream go together; the order stays. */
export function appendsOf(events: readonly StoredEvent[]): Append[] {
  const appends: (Append & { readonly events: StoredEvent[] })[] = []
  for (const event of events) {
    const last = appends.at(-1)
    if (last?.stream === event.stream) last.events.push(event)
    else appends.push({ stream: event.stream, expected: before(event.revision), events: [event] })
  }
  return appends
}

const before = (revision: bigint) => (revision === 0n ? 'none' : revision - 1n)

/**
 * Appends in this order and no other: together where that is one transaction, else one behind the other.
 * @throws Failed where the target holds something else or in another order, or stays away
 */
export async function writeInOrder(target: EventStore, appends: readonly Append[]): Promise<void> {
  const positions = await persistently(() => target.appendMany(appends, 'kept'))
  for (const [index, position] of positions.entries()) {
    if (comparePositions(positions[index - 1] ?? 'start', position) < 0) continue
    const stream = appends[index]?.stream
    throw new Failed(`The target did not keep the order at ${stream}: empty it, or name another one, and move again`)
  }
}

/** A repeat with the same ids is recognised, so that an unknown outcome is simply tried again. */
async function persistently<Result>(work: () => Promise<Result>): Promise<Result> {
  const ends = performance.now() + PATIENCE
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (error instanceof WrongRevision) throw new Failed(`Somebody else writes to the target: ${error.message}`)
      const passes = error instanceof OutcomeUnknown || error instanceof StoreUnavailable
      if (!passes || error instanceof LogClosed || performance.now() > ends) throw error
      await pause(RETRY)
    }
  }
}
