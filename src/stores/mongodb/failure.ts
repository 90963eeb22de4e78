import {
  MongoAPIError,
  MongoBulkWriteError,
  MongoClientClosedError,
  MongoError,
  MongoNotConnectedError,
  MongoServerError,
  MongoTopologyClosedError,
  type WriteError,
} from 'mongodb'
import { StoreUnavailable } from '../ports/event-store.ts'

/** https://github.com/mongodb/mongo/blob/master/src/mongo/base/error_codes.yml */
const DUPLICATE_KEY = 11000
const NOT_A_REPLICA_SET = 123
const INVALID_OPTIONS = 72
const WRITE_CONCERN_FAILED = 64

/**
 * What a server says that starts, stops, votes, has no room, is at something else, or lets nobody in: it passes without a
 * change here.
 * 1 InternalError, 6 HostUnreachable, 7 HostNotFound, 13 Unauthorized, 18 AuthenticationFailed, 24 LockTimeout,
 * 43 CursorNotFound, 46 LockBusy, 50 MaxTimeMSExpired, 64 WriteConcernFailed, 89 NetworkTimeout, 91 ShutdownInProgress,
 * 94 NotYetInitialized, 100 UnsatisfiableWriteConcern, 112 WriteConflict, 117 ConflictingOperationInProgress,
 * 133 FailedToSatisfyReadPreference, 134 ReadConcernMajorityNotAvailableYet, 175 QueryPlanKilled, 189 PrimarySteppedDown,
 * 202 NetworkInterfaceExceededTimeLimit, 211 KeyNotFound (of the cluster's clock, behind an election), 237 CursorKilled,
 * 262 ExceededTimeLimit, 276 IndexBuildAborted, 279 ClientDisconnect, 365 TemporarilyUnavailable, 384 ConnectionError,
 * 9001 SocketException, 10058 and 10107 not a writable primary, 11600 InterruptedAtShutdown, 11601 Interrupted,
 * 11602 InterruptedDueToReplStateChange, 12586 and 12587 an index is being made, 13435 and 13436 not the primary,
 * 14031 OutOfDiskSpace
 */
const TRANSIENT_ERROR_CODES: ReadonlySet<unknown> = new Set([
  1, 6, 7, 13, 18, 24, 43, 46, 50, 64, 89, 91, 94, 100, 112, 117, 133, 134, 175, 189, 202, 211, 237, 262, 276, 279, 365,
  384, 9001, 10058, 10107, 11600, 11601, 11602, 12586, 12587, 13435, 13436, 14031,
])

/** What servers mark as worth another try, whatever its code. */
const TRANSIENT_ERROR_LABELS = ['RetryableWriteError', 'TransientTransactionError', 'SystemOverloadedError']

/**
 * An insert of an `_id` that is there already: somebody was first. Of many inserts, that nothing else went wrong: one that
 * had no room must not pass for one that was there.
 */
export function isDuplicate(error: unknown): boolean {
  if (!(error instanceof MongoServerError) || error.code !== DUPLICATE_KEY) return false
  if (!(error instanceof MongoBulkWriteError)) return true
  return faultsIn(error).every(({ code }) => code === DUPLICATE_KEY) && writeConcernErrorCodeOf(error) === undefined
}

/** What went wrong with single documents of a bulk. */
const faultsIn = ({ writeErrors }: MongoBulkWriteError): readonly WriteError[] =>
  new Array<WriteError>().concat(writeErrors)

/** An option or a command that this server does not know, such as a stand-in's. */
export const isUnsupportedByServer = (error: unknown): boolean =>
  error instanceof MongoServerError && (error.code === 238 || error.code === 59)

/** A server that stands alone can't ask others whether it is the primary. */
export const lacksLinearizableReads = (error: unknown): boolean =>
  isUnsupportedByServer(error) ||
  (error instanceof MongoServerError && (error.code === NOT_A_REPLICA_SET || error.code === INVALID_OPTIONS))

/** The primary has done it, and no majority has said in time that it has it too. */
export const isUnacknowledged = (error: unknown): boolean =>
  error instanceof MongoBulkWriteError
    ? writeConcernErrorCodeOf(error) === WRITE_CONCERN_FAILED || error.code === WRITE_CONCERN_FAILED
    : error instanceof MongoServerError && error.code === WRITE_CONCERN_FAILED

/** What its errors name. */
export const STORE = 'MongoDB'

/** @returns StoreUnavailable in place of errors that pass */
export function toStoreUnavailable(error: unknown, server: string): unknown {
  if (!(error instanceof MongoError) || !isTransient(error)) return error
  return new StoreUnavailable(`MongoDB at ${server} can't be used now: ${error.message}`, {
    cause: error,
    store: STORE,
  })
}

/** Whatever is not the server's own word is the network's; misuse of the driver is ours, unless it was closed meanwhile. */
function isTransient(error: MongoError): boolean {
  if (error instanceof MongoBulkWriteError) return isTransientBulkError(error)
  if (error instanceof MongoServerError) return TRANSIENT_ERROR_CODES.has(error.code) || hasTransientLabel(error)
  return !(error instanceof MongoAPIError) || CLOSED.some((kind) => error instanceof kind)
}

/**
 * The driver wraps in it whatever ends a bulk: what the server says of a document or of all, under a code, and errors that
 * are not the server's, without one. One document that does not pass is a fault of ours, however many others do.
 */
function isTransientBulkError(error: MongoBulkWriteError): boolean {
  const wrapped: unknown = error.errorResponse
  if (wrapped instanceof MongoError) return isTransient(wrapped)
  const faults = faultsIn(error)
  const codes = [...(faults.length > 0 ? faults.map(({ code }) => code) : [error.code]), writeConcernErrorCodeOf(error)]
  const others = codes.filter((code) => code !== undefined && code !== DUPLICATE_KEY)
  return (others.length > 0 && others.every((code) => TRANSIENT_ERROR_CODES.has(code))) || hasTransientLabel(error)
}

/** The code under which a bulk was done, and not known to last. */
const writeConcernErrorCodeOf = (error: MongoBulkWriteError): unknown => error.result?.getWriteConcernError?.()?.code

const hasTransientLabel = (error: MongoError) => TRANSIENT_ERROR_LABELS.some((label) => error.hasErrorLabel(label))

const CLOSED = [MongoClientClosedError, MongoNotConnectedError, MongoTopologyClosedError]
