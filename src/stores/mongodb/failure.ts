import {
  MongoAPIError,
  MongoClientClosedError,
  MongoError,
  MongoNotConnectedError,
  MongoServerError,
  MongoTopologyClosedError,
} from 'mongodb'
import { StoreUnavailable } from '../event-store.ts'

/** https://github.com/mongodb/mongo/blob/master/src/mongo/base/error_codes.yml */
const DUPLICATE_KEY = 11000

/**
 * What a server says that starts, stops, votes, has no room, or lets nobody in: it passes without a change here.
 * 1 InternalError, 6 HostUnreachable, 7 HostNotFound, 13 Unauthorized, 18 AuthenticationFailed, 50 MaxTimeMSExpired,
 * 64 WriteConcernFailed, 89 NetworkTimeout, 91 ShutdownInProgress, 134 ReadConcernMajorityNotAvailableYet,
 * 189 PrimarySteppedDown, 262 ExceededTimeLimit, 9001 SocketException, 10107 NotWritablePrimary,
 * 11600 InterruptedAtShutdown, 11602 InterruptedDueToReplStateChange, 13435 and 13436 not the primary,
 * 14031 OutOfDiskSpace
 */
const PASSING: ReadonlySet<unknown> = new Set([
  1, 6, 7, 13, 18, 50, 64, 89, 91, 134, 189, 262, 9001, 10107, 11600, 11602, 13435, 13436, 14031,
])

/** An insert of an `_id` that is there already: somebody was first. */
export const isDuplicate = (error: unknown): boolean =>
  error instanceof MongoServerError && error.code === DUPLICATE_KEY

/** An option or a command that this server does not know, such as a stand-in's. */
export const isUnknownToServer = (error: unknown): boolean =>
  error instanceof MongoServerError && (error.code === 238 || error.code === 59)

/** @returns StoreUnavailable in place of errors that pass */
export function failureOf(error: unknown, server: string): unknown {
  if (!(error instanceof MongoError) || !passes(error)) return error
  return new StoreUnavailable(`MongoDB at ${server} can't be used now: ${error.message}`, { cause: error })
}

/** Whatever is not the server's own word is the network's; misuse of the driver is ours, unless it was closed meanwhile. */
function passes(error: MongoError): boolean {
  if (error instanceof MongoServerError) return PASSING.has(error.code) || error.hasErrorLabel('RetryableWriteError')
  return !(error instanceof MongoAPIError) || CLOSED.some((kind) => error instanceof kind)
}

const CLOSED = [MongoClientClosedError, MongoNotConnectedError, MongoTopologyClosedError]
