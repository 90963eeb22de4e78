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

/**
 * The `_id` of an insert exists already: another process was first. For bulk inserts, true only if all errors are
 * duplicates; an insert that failed for another reason, such as a full disk, must not count as stored.
 */
export function isDuplicate(error: unknown): boolean {
  if (!(error instanceof MongoServerError) || error.code !== DUPLICATE_KEY) return false
  if (!(error instanceof MongoBulkWriteError)) return true
  return faultsIn(error).every(({ code }) => code === DUPLICATE_KEY) && writeConcernErrorCodeOf(error) === undefined
}

/** https://github.com/mongodb/mongo/blob/master/src/mongo/base/error_codes.yml */
const DUPLICATE_KEY = 11000

const faultsIn = ({ writeErrors }: MongoBulkWriteError): readonly WriteError[] =>
  new Array<WriteError>().concat(writeErrors)

const writeConcernErrorCodeOf = (error: MongoBulkWriteError): unknown => error.result?.getWriteConcernError?.()?.code

/** The server does not know an option or a command; it may be a MongoDB-compatible server such as FerretDB. */
export const isUnsupportedByServer = (error: unknown): boolean =>
  error instanceof MongoServerError && (error.code === 238 || error.code === 59)

/** A standalone server rejects linearizable reads. */
export const lacksLinearizableReads = (error: unknown): boolean =>
  isUnsupportedByServer(error) ||
  (error instanceof MongoServerError && (error.code === NOT_A_REPLICA_SET || error.code === INVALID_OPTIONS))

const NOT_A_REPLICA_SET = 123

const INVALID_OPTIONS = 72

/** The primary applied the write, but no majority acknowledged it in time. */
export const isUnacknowledged = (error: unknown): boolean =>
  error instanceof MongoBulkWriteError
    ? writeConcernErrorCodeOf(error) === WRITE_CONCERN_FAILED || error.code === WRITE_CONCERN_FAILED
    : error instanceof MongoServerError && error.code === WRITE_CONCERN_FAILED

const WRITE_CONCERN_FAILED = 64

export const STORE = 'MongoDB'

/** @returns StoreUnavailable in place of a temporary error, otherwise the error itself */
export function toStoreUnavailable(error: unknown, server: string): unknown {
  if (!(error instanceof MongoError) || !isTransient(error)) return error
  return new StoreUnavailable(`MongoDB at ${server} is unavailable: ${error.message}`, {
    cause: error,
    store: STORE,
  })
}

/**
 * Server errors by code or label. Other driver errors are network errors, except misuse of the driver's API; a closed
 * client counts as a network error.
 */
function isTransient(error: MongoError): boolean {
  if (error instanceof MongoBulkWriteError) return isTransientBulkError(error)
  if (error instanceof MongoServerError) return TRANSIENT_ERROR_CODES.has(error.code) || hasTransientLabel(error)
  return !(error instanceof MongoAPIError) || CLOSED.some((kind) => error instanceof kind)
}

/**
 * The driver wraps every error that ends a bulk: a server error for one or all documents, with a code, or another
 * error, without one. A permanent error of one document makes the whole error permanent.
 */
function isTransientBulkError(error: MongoBulkWriteError): boolean {
  const wrapped: unknown = error.errorResponse
  if (wrapped instanceof MongoError) return isTransient(wrapped)
  const faults = faultsIn(error)
  const codes = [...(faults.length > 0 ? faults.map(({ code }) => code) : [error.code]), writeConcernErrorCodeOf(error)]
  const otherCodes = codes.filter((code) => code !== undefined && code !== DUPLICATE_KEY)
  return (
    (otherCodes.length > 0 && otherCodes.every((code) => TRANSIENT_ERROR_CODES.has(code))) || hasTransientLabel(error)
  )
}

/**
 * Temporary errors: the server is starting, stopping, electing, overloaded, out of disk space or rejects the login.
 * They end without a change in the service.
 * 1 InternalError, 6 HostUnreachable, 7 HostNotFound, 13 Unauthorized, 18 AuthenticationFailed, 24 LockTimeout,
 * 43 CursorNotFound, 46 LockBusy, 50 MaxTimeMSExpired, 64 WriteConcernFailed, 89 NetworkTimeout,
 * 91 ShutdownInProgress, 94 NotYetInitialized, 100 UnsatisfiableWriteConcern, 112 WriteConflict,
 * 117 ConflictingOperationInProgress, 133 FailedToSatisfyReadPreference, 134 ReadConcernMajorityNotAvailableYet,
 * 175 QueryPlanKilled, 189 PrimarySteppedDown, 202 NetworkInterfaceExceededTimeLimit,
 * 211 KeyNotFound (cluster time keys, after an election), 237 CursorKilled, 262 ExceededTimeLimit,
 * 276 IndexBuildAborted, 279 ClientDisconnect, 365 TemporarilyUnavailable, 384 ConnectionError, 9001 SocketException,
 * 10058 and 10107 not a writable primary, 11600 InterruptedAtShutdown, 11601 Interrupted,
 * 11602 InterruptedDueToReplStateChange, 12586 and 12587 index build in progress, 13435 and 13436 not the primary,
 * 14031 OutOfDiskSpace
 */
const TRANSIENT_ERROR_CODES: ReadonlySet<unknown> = new Set([
  1, 6, 7, 13, 18, 24, 43, 46, 50, 64, 89, 91, 94, 100, 112, 117, 133, 134, 175, 189, 202, 211, 237, 262, 276, 279, 365,
  384, 9001, 10058, 10107, 11600, 11601, 11602, 12586, 12587, 13435, 13436, 14031,
])

const hasTransientLabel = (error: MongoError) => TRANSIENT_ERROR_LABELS.some((label) => error.hasErrorLabel(label))

/** Labels with which servers mark errors that are worth a retry, whatever their code. */
const TRANSIENT_ERROR_LABELS = ['RetryableWriteError', 'TransientTransactionError', 'SystemOverloadedError']

const CLOSED = [MongoClientClosedError, MongoNotConnectedError, MongoTopologyClosedError]
