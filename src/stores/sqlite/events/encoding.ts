import { checkAppend, serializeData, serializeMetadata } from '../../log/event-serialization.ts'
import type { Append, NewEvent, Revision } from '../../ports/event-store.ts'

/** An event's columns. */
type EncodedEvent = {
  readonly id: string
  readonly type: string
  readonly data: string
  readonly metadata: string
}

export type EncodedAppend = {
  readonly stream: string
  readonly expected: Revision
  readonly firstRevision: number
  readonly events: readonly EncodedEvent[]
  /** Characters of data and metadata: an estimate of the space in the file and in memory. */
  readonly approximateBytes: number
}

/**
 * Validates and encodes appends before anything is written.
 * @throws TypeError for an invalid stream name or event
 */
export function encodeAppends(appends: readonly Append[]): EncodedAppend[] {
  return appends.map(({ stream, expected, events }) => {
    checkAppend(stream, events)
    const encoded = events.map(encodeEvent)
    const approximateBytes = encoded.reduce((sum, { data, metadata }) => sum + data.length + metadata.length, 0)
    const firstRevision = expected === 'none' ? 0 : Number(expected) + 1
    return { stream, expected, firstRevision, events: encoded, approximateBytes }
  })
}

const encodeEvent = (event: NewEvent): EncodedEvent => ({
  id: event.id,
  type: event.type,
  data: serializeData(event),
  metadata: serializeMetadata(event),
})
