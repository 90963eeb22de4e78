import { eventId, toEventMetadata, type Origin } from '../../events/event-metadata.ts'
import { currentPayloadVersion } from '../../events/registry.ts'
import {
  comparePositions,
  OutcomeUnknown,
  type Append,
  type EventStore,
  type NewEvent,
  type Position,
} from '../../stores/ports/event-store.ts'
import { withRetry } from './retry.ts'

/** Makes of what was decided an event to be stored. */
export type EventFactory = (id: string, event: { readonly type: string; readonly data: object }) => NewEvent

/**
 * Every event that is written passes here: its metadata say which version of its payload it has. Events of one version
 * share their metadata, which stores then turn into text once for a bulk.
 * @param now milliseconds since 1970
 */
export function createEventFactory(origin: Origin, now: number): EventFactory {
  const base = toEventMetadata(origin, now)
  return (id, { type, data }) => ({ id, type, data: { ...data }, metadata: withEventVersion(base, type) })
}

/**
 * A wish's events as the store takes them, with ids that a repeat of it will have again.
 * @param now milliseconds since 1970
 */
export function toNewEvents(
  { id, origin }: { readonly id: string; readonly origin: Origin },
  events: readonly { readonly type: string; readonly data: object }[],
  now: number,
): NewEvent[] {
  const toNewEvent = createEventFactory(origin, now)
  return events.map((event, index) => toNewEvent(eventId(id, index), event))
}

const metadataBySchema = new WeakMap<NewEvent['metadata'], Map<string, NewEvent['metadata']>>()

/** Metadata for a type of event; the same object for all types that are in the same version. */
export const withEventVersion = (base: NewEvent['metadata'], type: string): NewEvent['metadata'] =>
  withSchema(base, String(currentPayloadVersion(type)))

export function withSchema(base: NewEvent['metadata'], schema: string): NewEvent['metadata'] {
  if (base['schema'] === schema) return base
  const made = metadataBySchema.get(base) ?? new Map<string, NewEvent['metadata']>()
  const found = made.get(schema) ?? { ...base, schema }
  metadataBySchema.set(base, made.set(schema, found))
  return found
}

/** What is needed to append. */
export type AppendContext = {
  readonly store: EventStore
  /** Milliseconds that never go back; the process's unless told. */
  readonly monotonic?: () => number
}

/**
 * Appends to several streams at once. Where nobody knows whether it arrived, it is repeated: the store recognises the ids of
 * the events, so they are stored once.
 * @returns the position of the last event of all
 * @throws WrongRevision, OutcomeUnknown after the last try, StoreUnavailable
 */
export function appendAll(
  { store, monotonic }: AppendContext,
  appends: readonly Append[],
): Promise<Position | undefined> {
  return withRetry({ on: [OutcomeUnknown], monotonic }, async () =>
    latestPosition(await appendOneOrMany(store, appends)),
  )
}

async function appendOneOrMany(store: EventStore, appends: readonly Append[]): Promise<Position[]> {
  const [only] = appends
  if (only !== undefined && appends.length === 1) return [await store.append(only.stream, only.expected, only.events)]
  return store.appendMany(appends)
}

/** Where appends are made beside each other, the last of them is not the latest. */
export function latestPosition(positions: readonly (Position | undefined)[]): Position | undefined {
  let found: Position | undefined
  for (const position of positions) {
    if (position !== undefined && (found === undefined || comparePositions(position, found) > 0)) found = position
  }
  return found
}
