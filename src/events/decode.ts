import type { StoredEvent } from '../stores/ports/event-store.ts'
import { payloadVersionOf, type EventDeclaration } from '../domain/event.ts'
import { EVENTS } from './registry.ts'

/**
 * The event's type or version is newer than this release. Its meaning is unknown, so no decision may be based on it.
 */
export class UnsupportedEventVersion extends Error {
  override readonly name = 'NewerSchema'
}

/** The event's payload is invalid. No decision may be based on it either. */
export class InvalidEventPayload extends Error {
  override readonly name = 'InvalidEventPayload'
}

/**
 * Whether `decode` threw the error: the event log is available, but contains an event that this release can't decode.
 */
export const isDecodeError = (error: unknown): error is UnsupportedEventVersion | InvalidEventPayload =>
  error instanceof UnsupportedEventVersion || error instanceof InvalidEventPayload

/**
 * Upcasts a stored event's payload to the current version and validates it. Unknown members are dropped. Events that
 * other applications append to this service's streams in EventStoreDB are treated like those of a newer release.
 * @throws UnsupportedEventVersion, InvalidEventPayload
 */
export function decode<Event extends { type: string; data: object }>(event: StoredEvent): Event {
  const { declaration, version } = findDeclaration(event)
  const upcastData = (declaration.changes ?? [])
    .slice(version - 1)
    .reduce((data, { upcast }) => upcast(data), event.data)
  const { data, error } = declaration.payload.safeParse(upcastData)
  if (data === undefined)
    throw new InvalidEventPayload(`${event.type} in ${event.stream}@${event.revision}: ${formatIssues(error)}`)
  return { type: event.type, data } as unknown as Event
}

/**
 * The declaration of an event's type, and the version that the event was written with.
 * @throws UnsupportedEventVersion
 */
function findDeclaration({ type, stream, metadata }: StoredEvent): {
  readonly declaration: EventDeclaration
  readonly version: number
} {
  const declaration = EVENTS[type]
  if (declaration === undefined)
    throw new UnsupportedEventVersion(`${type} in ${stream} has an event type that this release does not know`)
  const version = Number(metadata['schema'] ?? '1')
  const newestVersion = payloadVersionOf(declaration)
  if (version > newestVersion)
    throw new UnsupportedEventVersion(
      `${type} in ${stream} has schema ${version}; this release reads up to ${newestVersion}`,
    )
  return { declaration, version }
}

/** Names paths and problems but never values, because events may hold data that must not be logged. */
const formatIssues = (error: {
  readonly issues: readonly { readonly path: PropertyKey[]; readonly message: string }[]
}) => error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ')
