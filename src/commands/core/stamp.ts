import type { NewEvent } from '../../stores/ports/event-store.ts'
import { writtenVersion } from '../../events/registry.ts'
import { eventId } from '../../events/event-id.ts'
import { metadata, type Origin } from '../../events/origin.ts'

/** Makes of what was decided an event to be stored. */
export type Stamp = (id: string, event: { readonly type: string; readonly data: object }) => NewEvent

/**
 * Every event that is written passes here: its metadata say which version of its payload it has. Events of one version
 * share their metadata, which stores then turn into text once for a bulk.
 * @param now milliseconds since 1970
 */
export function stamp(origin: Origin, now: number): Stamp {
  const base = metadata(origin, now)
  return (id, { type, data }) => ({ id, type, data: { ...data }, metadata: versioned(base, type) })
}

/**
 * A wish's events as the store takes them, with ids that a repeat of it will have again.
 * @param now milliseconds since 1970
 */
export function toAppend(
  { id, origin }: { readonly id: string; readonly origin: Origin },
  events: readonly { readonly type: string; readonly data: object }[],
  now: number,
): NewEvent[] {
  const stamped = stamp(origin, now)
  return events.map((event, index) => stamped(eventId(id, index), event))
}

const byVersion = new WeakMap<NewEvent['metadata'], Map<string, NewEvent['metadata']>>()

/** Metadata for a type of event; the same object for all types that are in the same version. */
export const versioned = (base: NewEvent['metadata'], type: string): NewEvent['metadata'] =>
  withSchema(base, String(writtenVersion(type)))

export function withSchema(base: NewEvent['metadata'], schema: string): NewEvent['metadata'] {
  if (base['schema'] === schema) return base
  const made = byVersion.get(base) ?? new Map<string, NewEvent['metadata']>()
  const found = made.get(schema) ?? { ...base, schema }
  byVersion.set(base, made.set(schema, found))
  return found
}
