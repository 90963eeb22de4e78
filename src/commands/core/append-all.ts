import {
  comparePositions,
  OutcomeUnknown,
  type Append,
  type EventStore,
  type Position,
} from '../../stores/ports/event-store.ts'
import { tries } from './tries.ts'

/** A repeat with the same event ids is recognised by the store, so an unknown outcome is simply tried again. */
const ATTEMPTS = 3

/**
 * Appends to several streams at once; the same events are appended once, however often it takes.
 * @returns the position of the last event of all
 * @throws WrongRevision, OutcomeUnknown after the last attempt, StoreUnavailable
 */
export async function appendAll(store: EventStore, appends: readonly Append[]): Promise<Position | undefined> {
  const isTriedAgain = tries(ATTEMPTS)
  for (;;) {
    try {
      return latest(await appendOneOrMany(store, appends))
    } catch (error) {
      if (!(error instanceof OutcomeUnknown && isTriedAgain(error))) throw error
    }
  }
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
