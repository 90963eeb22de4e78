import type { Append, NewEvent, Revision } from '../event-store.ts'
import { jsonValue } from './json-value.ts'
import { isUuid, uuidBytes } from './uuid.ts'

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
    checkName('stream', stream)
    if (events.length === 0) throw new TypeError(`an append to ${stream} needs at least one event`)
    const encoded = events.map((event) => {
      if (last?.metadata !== event.metadata) last = encodeMetadata(event)
      return encodeEvent(event, last)
    })
    const bytes = encoded.reduce((sum, { data, metadata }) => sum + data.length + metadata.length, 0)
    return { stream, expected, first: expected === 'none' ? 0 : Number(expected) + 1, events: encoded, bytes }
  })
}

function encodeEvent({ id, type, data }: NewEvent, { text, value }: EncodedMetadata): EncodedEvent {
  if (!isUuid(id)) throw new TypeError(`an event's id must be a UUID, got ${JSON.stringify(id)}`)
  checkName('type', type)
  const encoded = encodeObject(`data of ${type}`, data)
  const event = { id: id.toLowerCase(), type, data: jsonValue(data, encoded), metadata: value }
  return { id: uuidBytes(id), data: encoded, metadata: text, event }
}

function encodeMetadata({ type, metadata }: NewEvent): EncodedMetadata {
  const text = encodeObject(`metadata of ${type}`, metadata)
  for (const [key, value] of Object.entries(metadata)) {
    if (typeof value !== 'string')
      throw new TypeError(`metadata of ${type}: ${key} must be a string, got ${typeof value}`)
  }
  return { metadata, text, value: jsonValue(metadata, text) }
}

function encodeObject(what: string, value: object): string {
  const text = stringify(what, value)
  if (text?.[0] !== '{') throw new TypeError(`${what} must be an object, got ${text ?? 'undefined'}`)
  return text
}

/** What JSON has no text for, such as undefined, gives undefined. */
function stringify(what: string, value: object): string | undefined {
  try {
    return JSON.stringify(value)
  } catch (error) {
    throw new TypeError(`${what} is not JSON: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    })
  }
}

/** Half a surrogate pair has no UTF-8, so it would come back as something else. */
function checkName(what: string, name: string): void {
  if (typeof name !== 'string' || name === '') throw new TypeError(`an event's ${what} must not be empty`)
  if (/\p{Surrogate}/u.test(name)) throw new TypeError(`an event's ${what} is not Unicode: ${JSON.stringify(name)}`)
}
