import type { Append, NewEvent } from '../ports/event-store.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

const isUuid = (text: unknown): text is string => typeof text === 'string' && UUID.test(text)

export const uuidToBytes = (uuid: string): Buffer => Buffer.from(uuid.replaceAll('-', ''), 'hex')

/** In lower case, as RFC 9562 writes UUIDs. */
export function uuidFromBytes(bytes: Buffer): string {
  const hex = bytes.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

/**
 * The JSON text of an event's data.
 * @throws TypeError if the id, the type or the data is invalid
 */
export function serializeData({ id, type, data }: NewEvent): string {
  if (!isUuid(id)) throw new TypeError(`an event's id must be a UUID, got ${JSON.stringify(id)}`)
  checkName('type', type)
  return objectText(`data of ${type}`, data)
}

/** @throws TypeError if the metadata is not an object of strings */
export function serializeMetadata({ type, metadata }: NewEvent): string {
  const text = objectText(`metadata of ${type}`, metadata)
  for (const [key, value] of Object.entries(metadata)) {
    if (typeof value !== 'string')
      throw new TypeError(`metadata of ${type}: ${key} must be a string, got ${typeof value}`)
  }
  return text
}

/** @throws TypeError if the stream name is invalid or there are no events */
export function checkAppend(stream: string, events: readonly NewEvent[]): void {
  checkName('stream', stream)
  if (events.length === 0) throw new TypeError(`an append to ${stream} needs at least one event`)
}

/** @throws TypeError if the append cannot be stored by any engine */
export function validateStorable({ stream, events }: Pick<Append, 'stream' | 'events'>): void {
  checkAppend(stream, events)
  for (const event of events) {
    serializeData(event)
    serializeMetadata(event)
  }
}

function objectText(label: string, value: object): string {
  const text = stringify(label, value)
  if (text?.[0] !== '{') throw new TypeError(`${label} must be an object, got ${text ?? 'undefined'}`)
  return text
}

/** Returns undefined for values without a JSON text, such as undefined. */
function stringify(label: string, value: object): string | undefined {
  try {
    return JSON.stringify(value)
  } catch (error) {
    throw new TypeError(`${label} is not JSON: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    })
  }
}

/** An unpaired surrogate has no UTF-8 encoding, so the name would change when stored. */
function checkName(label: string, name: string): void {
  if (typeof name !== 'string' || name === '') throw new TypeError(`an event's ${label} must not be empty`)
  if (!name.isWellFormed())
    throw new TypeError(`an event's ${label} must be valid Unicode, got ${JSON.stringify(name)}`)
}
