import { StoreMisconfigured, StoreUnavailable } from '../ports/event-store.ts'
import type { WarningLogger } from '../../runtime/logger.ts'

/** Called with the error that interrupted a subscription; the subscription resumes. */
export type InterruptionListener = (error: unknown) => void

/**
 * Subscriptions retry forever, and a process that only follows the log has no callers that would get an error. Each
 * failure is therefore logged; the logger combines them into one outage.
 */
export const reportInterruptions =
  (warn: WarningLogger): InterruptionListener =>
  (error) =>
    warn(
      { err: toStoreUnavailable('the subscription failed', error), repeats: true },
      'reading the log for a subscription failed; retrying',
    )

/** The store's name in its errors, and the start of their messages. */
export const STORE = 'EventStoreDB'

/** The oldest supported server, as a part of error messages. */
export const OLDEST_SERVER = 'the server must be version 22.10 or newer'

/** Properties that the client and gRPC add to errors; which ones are present depends on where the call failed. */
type EventStoreDBClientError = Error & {
  readonly type?: unknown
  readonly code?: unknown
  readonly metadata?: { get(name: string): readonly (string | Buffer)[] }
}

const CANCELLED = 1
const UNIMPLEMENTED = 12
const INTERNAL = 13
const UNAVAILABLE = 14

/** Errors of calls that gRPC abandoned before it had a connection: the server never received them. */
const NEVER_SENT = /No connection established|ECONNREFUSED|Name resolution failed|Failed to discover/

export const isNeverSent = (error: unknown): boolean => NEVER_SENT.test(messageOf(error))

/**
 * The node is unreachable, has just started or is not the leader. A rejected append says "not leader" in its message; a
 * call ended by the node says it in gRPC metadata.
 */
export const isNodeFailure = (error: unknown): boolean =>
  ['unavailable', 'cancelled', 'not-leader'].includes(String(typeOf(error))) ||
  codeOf(error) === UNAVAILABLE ||
  exceptionOf(error) === 'not-leader' ||
  /Server Is Not Ready|No leader info/.test(messageOf(error))

/** Whether the server sent this error. gRPC itself reports a lost connection, as one of three codes. */
export const isServerResponse = (error: unknown): boolean =>
  !isNodeFailure(error) &&
  (typeOf(error) !== undefined || typeof codeOf(error) === 'number') &&
  codeOf(error) !== CANCELLED &&
  codeOf(error) !== INTERNAL

/**
 * The connection ended during a call, or its node stopped being the leader: a read may succeed on a new connection. The
 * server closes a connection whose keep-alive pings stay unanswered for 20 s, for example while this process is
 * suspended: `13 INTERNAL: Received RST_STREAM with code 2 ... Session closed`.
 */
export const isInterruption = (error: unknown): boolean =>
  codeOf(error) === INTERNAL ||
  (isNodeFailure(error) && !isNeverSent(error) && !/Server Is Not Ready/.test(messageOf(error)))

/** The client replaced its channel, as after each lost connection, before it sent this call. */
export const isUnsentByOldChannel = (error: unknown): boolean =>
  /Channel closed before call started/.test(messageOf(error))

export const isMissingStream = (error: unknown): boolean =>
  typeOf(error) === 'stream-not-found' || typeOf(error) === 'stream-deleted'

/** Also for a position between two records, as of another log: the server's handler then throws. */
export const isUnknownPosition = (error: unknown): boolean => /Exception was thrown by handler/.test(messageOf(error))

/**
 * Wraps any error of a call. Some of the client's errors have neither a type nor a message, and those of a dead
 * connection come in four kinds.
 */
export function toStoreUnavailable(message: string, error: unknown): StoreUnavailable {
  if (error instanceof StoreUnavailable) return error
  const misconfiguration = misconfigurationOf(error)
  const ErrorClass = misconfiguration === undefined ? StoreUnavailable : StoreMisconfigured
  const reason = misconfiguration ?? reasonOf(error)
  return new ErrorClass(`${STORE}: ${message}: ${reason}`, { cause: error, store: STORE })
}

function misconfigurationOf(error: unknown): string | undefined {
  if (typeOf(error) === 'access-denied')
    return 'access denied: EVENT_STORE must contain the credentials of a user with access'
  if (codeOf(error) === UNIMPLEMENTED) return `${OLDEST_SERVER}: ${messageOf(error)}`
  return undefined
}

function reasonOf(error: unknown): string {
  if (codeOf(error) === UNAVAILABLE || typeOf(error) === 'unavailable') return `not reachable: ${messageOf(error)}`
  return messageOf(error) || String(typeOf(error) ?? error)
}

const codeOf = (error: unknown): unknown =>
  error instanceof Error ? (error as EventStoreDBClientError).code : undefined
const exceptionOf = (error: unknown): unknown =>
  error instanceof Error ? (error as EventStoreDBClientError).metadata?.get('exception')[0]?.toString() : undefined
const typeOf = (error: unknown): unknown =>
  error instanceof Error ? (error as EventStoreDBClientError).type : undefined
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
