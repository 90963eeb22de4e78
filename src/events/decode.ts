import type { StoredEvent } from '../stores/ports/event-store.ts'
import { payloadVersionOf, type EventDeclaration } from '../domain/event.ts'
import { EVENTS } from './registry.ts'

/** An event of a release newer than this one, by its type or its version: what it means is not known here, so nothing is decided on it. */
export class UnsupportedEventVersion extends Error {
  override readonly name = 'NewerSchema'
}

/** An event whose payload never was valid: nothing is decided on it either. */
export class InvalidEventPayload extends Error {
  override readonly name = 'BrokenEvent'
}

/** True for what `decode` throws: the log is there, and what it holds can't be understood here. */
export const isDecodeError = (error: unknown): error is UnsupportedEventVersion | InvalidEventPayload =>
  error instanceof UnsupportedEventVersion || error instanceof InvalidEventPayload

/**
 * A stored event as this release understands it: its payload lifted to the current version and checked.
 * Unknown fields are left out. What is stored in EventStoreDB by others, in streams of ours, is as unknown as the future.
 * @throws NewerSchema, BrokenEvent
 */
export function decode<Event extends { type: string; data: object }>(event: StoredEvent): Event {
  const { known, written } = findDeclaration(event)
  const lifted = (known.changes ?? []).slice(written - 1).reduce((data, { upcast }) => upcast(data), event.data)
  const { data, error } = known.payload.safeParse(lifted)
  if (data === undefined)
    throw new InvalidEventPayload(`${event.type} in ${event.stream}@${event.revision}: ${formatIssues(error)}`)
  return { type: event.type, data } as unknown as Event
}

/**
 * The declaration of an event that this release can read, and the version that it was written with.
 * @throws NewerSchema
 */
function findDeclaration({ type, stream, metadata }: StoredEvent): {
  readonly known: EventDeclaration
  readonly written: number
} {
  const known = EVENTS[type]
  if (known === undefined)
    throw new UnsupportedEventVersion(`${type} in ${stream} is of a type that this release does not know`)
  const written = Number(metadata['schema'] ?? '1')
  const newest = payloadVersionOf(known)
  if (written > newest)
    throw new UnsupportedEventVersion(`${type} in ${stream} has schema ${written}; this release reads up to ${newest}`)
  return { known, written }
}

/** Where and what, never the value: an event may hold what is no log's business. */
const formatIssues = (error: {
  readonly issues: readonly { readonly path: PropertyKey[]; readonly message: string }[]
}) => error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ')
