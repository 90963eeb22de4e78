import type { Append, NewEvent } from '../ports/event-store.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

const isUuid = (text: unknown): text is string => typeof text === 'string' && UUID.test(text)

export const uuidToBytes = (uuid: string): Buffer => Buffer.from(uuid.replaceAll('-', ''), 'hex')

/** In lower case, as RFC 9562 writes them. */
export function uuidFromBytes(bytes: Buffer): string {
  const hex = bytes.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

/**
 * The JSON text of an event's data.
 * @throws TypeError naming what is wrong with the id, the type or the data
 */
export function serializeData({ id, type, data }: NewEvent): string {
  if (!isUuid(id)) throw new TypeError(`an event's id must be a UUID, got ${JSON.stringify(id)}`)
  checkName('type', type)
  return objectText(`data of ${type}`, data)
}

/** @throws TypeError for metadata that is not an object of strings */
export function serializeMetadata({ type, metadata }: NewEvent): string {
  const text = objectText(`metadata of ${type}`, metadata)
  for (const [key, value] of Object.entries(metadata)) {
    if (typeof value !== 'string')
      throw new TypeError(`metadata of ${type}: ${key} must be a string, got ${typeof value}`)
  }
  return text
}

/** @throws TypeError for a name that can't be stored, and for an append of nothing */
export function checkAppend(stream: string, events: readonly NewEvent[]): void {
  checkName('stream', stream)
  if (events.length === 0) throw new TypeError(`an append to ${stream} needs at least one event`)
}

/** @throws TypeError for what no store takes */
export function validateStorable({ stream, events }: Pick<Append, 'stream' | 'events'>): void {
  checkAppend(stream, events)
  for (const event of events) {
    serializeData(event)
    serializeMetadata(event)
  }
}

function objectText(what: string, value: object): string {
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
  if (!name.isWellFormed()) throw new TypeError(`an event's ${what} is not Unicode: ${JSON.stringify(name)}`)
}
