import { hash } from 'node:crypto'
import type { StoredEvent } from '../stores/ports/event-store.ts'

/** Who issued a command and how. Stored in the metadata of every event, for audits. */
export type Origin = {
  /** `account-7`, `client-3_x`, `operator`, `anonymous`, or a projection's name. */
  readonly actor: string
  readonly via: 'http' | 'cli' | 'projection'
  /** The request's id, or one id for a whole run of the command line. */
  readonly correlation: string
  readonly client?: string
  readonly osUser?: string
  /** The id of the event that a reaction handled. */
  readonly causation?: string
  /** The `traceparent` of the request (https://www.w3.org/TR/trace-context/). */
  readonly trace?: string
}

export const FIRST_PAYLOAD_VERSION = '1'

/** @param now milliseconds since 1970 */
export function toEventMetadata(origin: Origin, now: number, schema = FIRST_PAYLOAD_VERSION): Record<string, string> {
  return {
    actor: origin.actor,
    via: origin.via,
    $correlationId: origin.correlation,
    ...(origin.client !== undefined && { client: origin.client }),
    ...(origin.osUser !== undefined && { osUser: origin.osUser }),
    ...(origin.causation !== undefined && { $causationId: origin.causation }),
    ...(origin.trace !== undefined && { traceparent: origin.trace }),
    schema,
    at: new Date(now).toISOString(),
  }
}

/** The trace id in a `traceparent`: 32 hexadecimal digits. */
export const traceIdOf = (traceparent: string): string => traceparent.slice(3, 35)

/** The trace of an event, to be continued by reactions to it. */
export function traceOf({ metadata }: Pick<StoredEvent, 'metadata'>): { readonly trace?: string } {
  const { traceparent } = metadata
  return traceparent === undefined ? {} : { trace: traceparent }
}

/** When an event was appended, in milliseconds since 1970; 0 without an event. */
export const eventTimeOf = (event: { readonly metadata: Readonly<Record<string, string>> } | undefined): number =>
  Date.parse(event?.metadata['at'] ?? '') || 0

/** The namespace of event ids. It must never change. */
const NAMESPACE = Buffer.from('5b0c3f0e8a4b4d0f9c1d6a7e2f3b4c5d', 'hex')

/**
 * The id of a command's event at an index. It is deterministic, so that a repeated command produces the same ids.
 * @param command the command's id, any text
 */
export const eventId = (command: string, index: number): string => nameBasedUuid(NAMESPACE, `${command}/${index}`)

/** UUID version 5 (RFC 9562, section 5.5). */
export function nameBasedUuid(namespace: Buffer, name: string): string {
  const hex = hash('sha1', Buffer.concat([namespace, Buffer.from(name)]), 'hex')
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
