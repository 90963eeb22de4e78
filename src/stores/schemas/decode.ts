import type { StoredEvent } from '../event-store.ts'
import { schemas } from './registry.ts'

/** An event of a release newer than this one: what it means is not known here, so nothing is decided on it. */
export class NewerSchema extends Error {
  override readonly name = 'NewerSchema'
}

/** An event whose payload never was valid: nothing is decided on it either. */
export class BrokenEvent extends Error {
  override readonly name = 'BrokenEvent'
}

/** True for what `decode` throws: the log is there, and what it holds can't be understood here. */
export const isUndecodable = (error: unknown): error is NewerSchema | BrokenEvent =>
  error instanceof NewerSchema || error instanceof BrokenEvent

/**
 * A stored event as this release understands it: its payload lifted to the current version and checked.
 * Unknown fields are left out; an event type that is not known here passes as it is, for evolve to ignore.
 * @throws NewerSchema, BrokenEvent
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
  const { data, error } = known.payload.safeParse(lifted)
  if (data === undefined)
    throw new BrokenEvent(`${event.type} in ${event.stream}@${event.revision}: ${faultsOf(error)}`)
  return { type: event.type, data } as unknown as Event
}

/** Where and what, never the value: an event may hold what is no log's business. */
const faultsOf = (error: { readonly issues: readonly { readonly path: PropertyKey[]; readonly message: string }[] }) =>
  error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ')
