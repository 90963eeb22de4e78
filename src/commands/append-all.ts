import { OutcomeUnknown, type Append, type EventStore, type Position } from '../stores/event-store.ts'

/** A repeat with the same event ids is recognised by the store, so an unknown outcome is simply tried again. */
const ATTEMPTS = 3

/**
 * Appends to several streams at once; the same events are appended once, however often it takes.
 * @returns the position of the last event of all
 * @throws WrongRevision, OutcomeUnknown after the last attempt, StoreUnavailable
 */
export async function appendAll(store: EventStore, appends: readonly Append[]): Promise<Position | undefined> {
  for (let attempt = 1; ; attempt++) {
    try {
      return (await appendOneOrMany(store, appends)).at(-1)
    } catch (error) {
      if (!(error instanceof OutcomeUnknown) || attempt === ATTEMPTS) throw error
    }
  }
}

async function appendOneOrMany(store: EventStore, appends: readonly Append[]): Promise<Position[]> {
  const [only] = appends
  if (only !== undefined && appends.length === 1) return [await store.append(only.stream, only.expected, only.events)]
  return store.appendMany(appends)
}
