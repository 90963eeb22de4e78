import { StoreUnavailable } from '../ports/event-store.ts'
import type { WarningLogger } from '../../runtime/logger.ts'

/** Told of what ended a subscription that is taken up again. */
export type InterruptionListener = (error: unknown) => void

/**
 * A subscription is made anew for ever, and a process that only follows has nobody who would be refused meanwhile: the log
 * learns of each failure, and tells of them as of one outage.
 */
export const reportInterruptions =
  (told: WarningLogger): InterruptionListener =>
  (error) =>
    told(
      { err: toStoreUnavailable('the log can not be followed', error), repeats: true },
      'following the log is interrupted; trying again',
    )

/** What its errors name, and their messages begin with. */
export const STORE = 'EventStoreDB'

/** What the client and gRPC put on their errors; which of it is there depends on where the call failed. */
type EventStoreDBClientError = Error & {
  readonly type?: unknown
  readonly code?: unknown
  readonly metadata?: { get(name: string): readonly (string | Buffer)[] }
}

const UNAVAILABLE = 14
const UNIMPLEMENTED = 12

/** Calls that gRPC gave up before there was a connection: the server never saw them. */
const NEVER_SENT = /No connection established|ECONNREFUSED|Name resolution failed|Failed to discover/

export const isNeverSent = (error: unknown): boolean => NEVER_SENT.test(messageOf(error))

/**
 * The node can't be called any more, or not for what only a leader does: it went away, has just started, or is no leader.
 * A refused append says that it is none in its message, a call that it ended in what gRPC sends along.
 */
export const isNodeFailure = (error: unknown): boolean =>
  ['unavailable', 'cancelled', 'not-leader'].includes(String(typeOf(error))) ||
  codeOf(error) === UNAVAILABLE ||
  exceptionOf(error) === 'not-leader' ||
  /Server Is Not Ready|No leader info/.test(messageOf(error))

export const isMissingStream = (error: unknown): boolean =>
  typeOf(error) === 'stream-not-found' || typeOf(error) === 'stream-deleted'

/** Also where the position lies between two records, as in another log: the server's handler fails on it. */
export const isUnknownPosition = (error: unknown): boolean => /Exception was thrown by handler/.test(messageOf(error))

/**
 * What the caller of a port is told: every failure of a call is the store's being unavailable, with what the client said.
 * Some of its errors have neither a type nor a message, and those of a dead connection come in four kinds.
 */
export function toStoreUnavailable(what: string, error: unknown): StoreUnavailable {
  if (error instanceof StoreUnavailable) return error
  return new StoreUnavailable(`${STORE}: ${what}: ${reasonOf(error)}`, { cause: error, store: STORE })
}

function reasonOf(error: unknown): string {
  const code = codeOf(error)
  if (typeOf(error) === 'access-denied') return 'access was denied; EVENT_STORE must carry a user who may do this'
  if (code === UNIMPLEMENTED) return `the server is older than 21.10: ${messageOf(error)}`
  if (code === UNAVAILABLE || typeOf(error) === 'unavailable') return `not reachable: ${messageOf(error)}`
  return messageOf(error) || String(typeOf(error) ?? error)
}

const codeOf = (error: unknown): unknown =>
  error instanceof Error ? (error as EventStoreDBClientError).code : undefined
const exceptionOf = (error: unknown): unknown =>
  error instanceof Error ? (error as EventStoreDBClientError).metadata?.get('exception')[0]?.toString() : undefined
const typeOf = (error: unknown): unknown =>
  error instanceof Error ? (error as EventStoreDBClientError).type : undefined
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
