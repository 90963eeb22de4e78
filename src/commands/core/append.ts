import { eventId, toEventMetadata, type Origin } from '../../events/event-metadata.ts'
import { currentPayloadVersion } from '../../events/registry.ts'
import {
  comparePositions,
  OutcomeUnknown,
  type Append,
  type EventStore,
  type NewEvent,
  type Position,
  type Revision,
} from '../../stores/ports/event-store.ts'
import { withRetry } from './retry.ts'

type EventFactory = (id: string, event: { readonly type: string; readonly data: object }) => NewEvent

/**
 * Stamps events with their payload version. Every event is created here or by `withEventVersion`. Events of one version
 * share a metadata object, so that stores serialize it once per bulk.
 * @param now milliseconds since 1970
 */
export function createEventFactory(origin: Origin, now: number): EventFactory {
  const base = toEventMetadata(origin, now)
  return (id, { type, data }) => ({ id, type, data: { ...data }, metadata: withEventVersion(base, type) })
}

/**
 * Turns a command's events into stored form. Ids are derived from the command id, so a retry has the same ids.
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

/** Adds the payload version of an event type. All types with the same version get the same object. */
export const withEventVersion = (base: NewEvent['metadata'], type: string): NewEvent['metadata'] =>
  withSchema(base, String(currentPayloadVersion(type)))

export function withSchema(base: NewEvent['metadata'], schema: string): NewEvent['metadata'] {
  if (base['schema'] === schema) return base
  const bySchema = metadataBySchema.get(base) ?? new Map<string, NewEvent['metadata']>()
  const metadata = bySchema.get(schema) ?? { ...base, schema }
  metadataBySchema.set(base, bySchema.set(schema, metadata))
  return metadata
}

export type AppendContext = {
  readonly store: EventStore
  /** Milliseconds; never goes back. Default: `performance.now()`. */
  readonly monotonic?: () => number
}

/**
 * Appends to one or several streams and retries if the outcome is unknown. The store recognises repeated event ids, so
 * the events are stored once.
 * @returns the position of the last event
 * @throws WrongRevision, EventsRemoved, OutcomeUnknown after the last attempt, StoreUnavailable
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

/** The revision of a stream after `count` more events. */
export const revisionAfter = (revision: Revision, count: number): bigint =>
  (revision === 'none' ? -1n : revision) + BigInt(count)

/** The highest position. With concurrent appends this need not be the last one in the list. */
export function latestPosition(positions: readonly (Position | undefined)[]): Position | undefined {
  let latest: Position | undefined
  for (const position of positions) {
    if (position !== undefined && (latest === undefined || comparePositions(position, latest) > 0)) latest = position
  }
  return latest
}
