import { hash } from 'node:crypto'
import type { StoredEvent } from '../stores/ports/event-store.ts'

/** Who wants something, and by which way: what an auditor reads beside every event. */
export type Origin = {
  /** `account-7`, `client-3_x`, `operator`, `anonymous`, or a projection's name. */
  readonly actor: string
  readonly via: 'http' | 'cli' | 'projection'
  /** The request's id, or one id for a whole run of a command. */
  readonly correlation: string
  /** The id of the OAuth client that an account's request came through. */
  readonly client?: string
  /** The operating system's user behind a command. */
  readonly osUser?: string
  /** The id of the event that led to this one, for reactions. */
  readonly causation?: string
  /** The trace that the request is a part of: a `traceparent` (https://www.w3.org/TR/trace-context/). */
  readonly trace?: string
}

/** The version of an event's payload; raised with its schema in src/events. */
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

/** The trace's id in a `traceparent`, as tracing systems show it: 32 hexadecimal digits. */
export const traceIdOf = (traceparent: string): string => traceparent.slice(3, 35)

/** The trace that an event is a part of, for what a follower does because of it. */
export function traceOf({ metadata }: Pick<StoredEvent, 'metadata'>): { readonly trace?: string } {
  const { traceparent } = metadata
  return traceparent === undefined ? {} : { trace: traceparent }
}

/** When an event was written, in milliseconds since 1970; 0 without one. */
export const eventTimeOf = (event: { readonly metadata: Readonly<Record<string, string>> } | undefined): number =>
  Date.parse(event?.metadata['at'] ?? '') || 0

/** The namespace of Adamant's event ids: made once, for good. */
const NAMESPACE = Buffer.from('5b0c3f0e8a4b4d0f9c1d6a7e2f3b4c5d', 'hex')

/**
 * The id of the `index`-th event that a command writes, so that the same command repeated makes the same ids.
 * @param command the command's id, any text
 */
export const eventId = (command: string, index: number): string => nameBasedUuid(NAMESPACE, `${command}/${index}`)

/** UUID version 5: RFC 9562, section 5.5. */
export function nameBasedUuid(namespace: Buffer, name: string): string {
  const hex = hash('sha1', Buffer.concat([namespace, Buffer.from(name)]), 'hex')
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
