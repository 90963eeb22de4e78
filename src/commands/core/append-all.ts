import {
  comparePositions,
  OutcomeUnknown,
  type Append,
  type EventStore,
  type Position,
} from '../../stores/ports/event-store.ts'
import type { Writing } from './handle.ts'
import { retrying } from './retry.ts'

/**
 * Appends to several streams at once. Where nobody knows whether it arrived, it is repeated: the store recognises the ids of
 * the events, so they are stored once.
 * @returns the position of the last event of all
 * @throws WrongRevision, OutcomeUnknown after the last try, StoreUnavailable
 */
export function appendAll(
  { store, monotonic }: Pick<Writing, 'store' | 'monotonic'>,
  appends: readonly Append[],
): Promise<Position | undefined> {
  return retrying({ on: [OutcomeUnknown], monotonic }, async () => latest(await appendOneOrMany(store, appends)))
}

async function appendOneOrMany(store: EventStore, appends: readonly Append[]): Promise<Position[]> {
  const [only] = appends
  if (only !== undefined && appends.length === 1) return [await store.append(only.stream, only.expected, only.events)]
  return store.appendMany(appends)
}

/** Where appends are made beside each other, the last of them is not the latest. */
export function latest(positions: readonly (Position | undefined)[]): Position | undefined {
  let found: Position | undefined
  for (const position of positions) {
    if (position !== undefined && (found === undefined || comparePositions(position, found) > 0)) found = position
  }
  return found
}
