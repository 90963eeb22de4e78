import type { StoredEvent } from '../event-store.ts'
import { schemas } from './registry.ts'

/** An event of a release newer than this one: what it means is not known here, so nothing is decided on it. */
export class NewerSchema extends Error {
  override readonly name = 'NewerSchema'
}

/**
 * A stored event as this release understands it: its payload lifted to the current version and checked.
 * Unknown fields are left out; an event type that is not known here passes as it is, for evolve to ignore.
 * @throws NewerSchema, or ZodError for a payload that never was valid
 */
export function decode<Event extends { type: string; data: object }>(event: StoredEvent): Event {
  const known = schemas[event.type]
  if (known === undefined) return { type: event.type, data: event.data } as unknown as Event
  const written = Number(event.metadata['schema'] ?? '1')
  if (written > known.version) {
    throw new NewerSchema(
      `${event.type} in ${event.stream} has schema ${written}; this release reads up to ${known.version}`,
    )
  }
  const lifted = known.upcasters.slice(written - 1).reduce((data, upcast) => upcast(data), event.data)
  return { type: event.type, data: known.payload.parse(lifted) } as unknown as Event
}
