import type { Append, NewEvent, Revision } from '../../ports/event-store.ts'
import { checkAppend, dataText, metadataText } from '../../log/event-text.ts'
import { jsonValue } from './json-value.ts'
import { uuidBytes } from '../../uuid.ts'

/** An event as the table holds it, and as a reader of the table would get it. */
export type EncodedEvent = {
  readonly id: Buffer
  readonly data: string
  readonly metadata: string
  readonly event: NewEvent
}

export type EncodedAppend = {
  readonly stream: string
  readonly expected: Revision
  /** Revision of the first of its events. */
  readonly first: number
  readonly events: readonly EncodedEvent[]
  /** Characters of its data and metadata: about what it takes in the file and in memory. */
  readonly bytes: number
}

type EncodedMetadata = {
  readonly metadata: NewEvent['metadata']
  readonly text: string
  readonly value: NewEvent['metadata']
}

/**
 * Everything that can be refused without the database is refused here, before anything is written.
 * @throws TypeError naming what is wrong
 */
export function encodeAppends(appends: readonly Append[]): EncodedAppend[] {
  // The events of a bulk share one metadata object: it is turned into text once.
  let last: EncodedMetadata | undefined
  return appends.map(({ stream, expected, events }) => {
    checkAppend(stream, events)
    const encoded = events.map((event) => {
      if (last?.metadata !== event.metadata) last = encodeMetadata(event)
      return encodeEvent(event, last)
    })
    const bytes = encoded.reduce((sum, { data, metadata }) => sum + data.length + metadata.length, 0)
    return { stream, expected, first: expected === 'none' ? 0 : Number(expected) + 1, events: encoded, bytes }
  })
}

function encodeEvent(given: NewEvent, { text, value }: EncodedMetadata): EncodedEvent {
  const { id, type } = given
  const data = dataText(given)
  const event = { id: id.toLowerCase(), type, data: jsonValue(given.data, data), metadata: value }
  return { id: uuidBytes(id), data, metadata: text, event }
}

function encodeMetadata(event: NewEvent): EncodedMetadata {
  const text = metadataText(event)
  return { metadata: event.metadata, text, value: jsonValue(event.metadata, text) }
}
