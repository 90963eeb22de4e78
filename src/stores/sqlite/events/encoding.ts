import { checkAppend, serializeData, serializeMetadata, uuidToBytes } from '../../log/event-serialization.ts'
import type { Append, NewEvent, Revision } from '../../ports/event-store.ts'

/** An event's columns, and the event as decodeRows would return it. */
type EncodedEvent = {
  readonly id: Buffer
  readonly data: string
  readonly metadata: string
  readonly event: NewEvent
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
  // The events of a bulk share one metadata object, which is serialized once.
  let last: EncodedMetadata | undefined
  return appends.map(({ stream, expected, events }) => {
    checkAppend(stream, events)
    const encoded = events.map((event) => {
      if (last?.metadata !== event.metadata) last = encodeMetadata(event)
      return encodeEvent(event, last)
    })
    const approximateBytes = encoded.reduce((sum, { data, metadata }) => sum + data.length + metadata.length, 0)
    const firstRevision = expected === 'none' ? 0 : Number(expected) + 1
    return { stream, expected, firstRevision, events: encoded, approximateBytes }
  })
}

type EncodedMetadata = {
  readonly metadata: NewEvent['metadata']
  readonly text: string
  readonly value: NewEvent['metadata']
}

function encodeMetadata(event: NewEvent): EncodedMetadata {
  const text = serializeMetadata(event)
  return { metadata: event.metadata, text, value: cloneAsJson(event.metadata, text) }
}

function encodeEvent(newEvent: NewEvent, { text, value }: EncodedMetadata): EncodedEvent {
  const { id, type } = newEvent
  const data = serializeData(newEvent)
  const event = { id: id.toLowerCase(), type, data: cloneAsJson(newEvent.data, data), metadata: value }
  return { id: uuidToBytes(id), data, metadata: text, event }
}

/**
 * A deep copy, equal to a JSON round trip, so that later changes of the original do not affect it. Plain values are
 * copied member by member, at a fifth of the cost of parsing; anything else is parsed from `text`.
 */
export function cloneAsJson<Value>(value: Value, text: string): Value {
  const copy = copyOf(value)
  return copy === NOT_PLAIN ? JSON.parse(text) : copy
}

function copyOf<Value>(value: Value): Value | typeof NOT_PLAIN
function copyOf(value: unknown): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value
    case 'number':
      return Number.isFinite(value) && !Object.is(value, -0) ? value : NOT_PLAIN
    case 'object':
      if (value === null) return null
      return Array.isArray(value) ? copyArray(value) : copyObject(value)
    default:
      return NOT_PLAIN
  }
}

const NOT_PLAIN = Symbol('not plain')

function copyArray(values: readonly unknown[]): unknown {
  const copy: unknown[] = []
  for (const value of values) {
    const member = copyOf(value)
    if (member === NOT_PLAIN) return NOT_PLAIN
    copy.push(member)
  }
  return copy
}

function copyObject(value: object): unknown {
  if (Object.getPrototypeOf(value) !== Object.prototype || 'toJSON' in value) return NOT_PLAIN
  const copy: Record<string, unknown> = {}
  for (const key of Object.keys(value)) {
    const member = copyOf((value as Record<string, unknown>)[key])
    if (member === NOT_PLAIN || key === '__proto__') return NOT_PLAIN
    copy[key] = member
  }
  return copy
}
