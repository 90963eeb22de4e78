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
export const FIRST_SCHEMA = '1'

/** @param now milliseconds since 1970 */
export function metadata(origin: Origin, now: number, schema = FIRST_SCHEMA): Record<string, string> {
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
