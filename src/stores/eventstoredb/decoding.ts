import type { ResolvedEvent } from '@eventstore/db-client'
import type { NewEvent, Position, StoredEvent } from '../ports/event-store.ts'

/**
 * An event as the port has it; undefined for what is none of ours: the server's own streams, whose names start with `$`,
 * and links to events that are gone. Another application's event may hold anything: what is no object reads as empty.
 */
export function storedEvent({ event }: ResolvedEvent): StoredEvent | undefined {
  if (event === undefined || event.streamId.startsWith('$')) return undefined
  const { id, type, data, metadata, streamId, revision, position } = event
  return {
    id,
    type,
    data: isObject(data) ? data : {},
    metadata: isObject(metadata) ? (metadata as NewEvent['metadata']) : {},
    stream: streamId,
    revision,
    position: position ?? UNTOLD,
  }
}

/** Where an event stands that was read with all others, whosever it is. */
export const positionOf = ({ event, commitPosition = 0n }: ResolvedEvent): Position =>
  event?.position ?? { commit: commitPosition, prepare: commitPosition }

/** Where a server before 22.6 has read one stream only: it does not tell positions there, but gives the greatest number. */
export const isUntold = ({ commit }: Position): boolean => commit >= 1n << 63n

const UNTOLD: Position = { commit: (1n << 64n) - 1n, prepare: (1n << 64n) - 1n }

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array)
