import { z } from 'zod'
import { RequestError, type ErrorDetail, type RequestErrorKind } from '../../domain/decider.ts'
import type { AppLogger } from '../../runtime/logger.ts'
import {
  LogClosed,
  OutcomeUnknown,
  StorageError,
  StoreUnavailable,
  WrongRevision,
} from '../../stores/ports/event-store.ts'
import { BytesMissing } from '../../stores/ports/file-store.ts'
import { InvalidEventPayload, UnsupportedEventVersion } from '../../events/decode.ts'
import { createResponse as answered, type ResponseHeaders } from './response.ts'
import type { EndpointGroup, HttpErrorDetails } from './endpoint.ts'

/** An error whose answer has headers of its own: a challenge, a range, the age of what it was judged by. */
export class ErrorWithHeaders extends Error {
  override readonly name = 'RefusedWith'

  /** @param error what is answered, and what the family's `refusal` gets to see */
  constructor(
    readonly headers: ResponseHeaders,
    readonly error: unknown,
  ) {
    super(error instanceof Error ? error.message : String(error), { cause: error })
  }
}

/** Seconds after which a store that was not reachable is worth another try. */
const RETRY_AFTER = 2

const STATUS: Readonly<Record<RequestErrorKind, number>> = {
  malformed: 400,
  unauthenticated: 401,
  forbidden: 403,
  missing: 404,
  'not-allowed': 405,
  'too-slow': 408,
  conflict: 409,
  gone: 410,
  precondition: 412,
  'too-large': 413,
  unsupported: 415,
  unsatisfiable: 416,
  invalid: 422,
  'too-many': 429,
  'too-long': 431,
  unavailable: 503,
}

type ErrorClass = abstract new (...given: never) => Error

/**
 * Errors that a caller can act on: status, message (without one, the error's own) and `Retry-After` in seconds. The first that fits
 * counts, so a subclass stands before its parent.
 */
const KNOWN_ERRORS: readonly (readonly [
  kind: ErrorClass,
  status: number,
  message?: string | undefined,
  retryAfter?: number,
])[] = [
  [WrongRevision, 409, 'The resource was changed by somebody else meanwhile; read it and try again'],
  // An operator is at work.
  [LogClosed, 503, undefined, 30],
  [StoreUnavailable, 503, 'A store is not reachable; try again', RETRY_AFTER],
  [OutcomeUnknown, 503, 'A store is not reachable; try again', RETRY_AFTER],
  [BytesMissing, 503, 'What is stored of this is missing at the moment; its operator is told', RETRY_AFTER],
  [UnsupportedEventVersion, 503, 'A newer release wrote this; upgrade is under way, try again', RETRY_AFTER],
  [
    InvalidEventPayload,
    503,
    'What is stored of this can not be read, so nothing was changed; its operator is told',
    RETRY_AFTER,
  ],
]

/** The one map from errors to statuses. What is not known here is our fault: 500, with nothing of it told. */
export function toHttpErrorDetails(error: unknown): HttpErrorDetails {
  if (error instanceof RequestError) {
    const { details, kind, retryAfter = kind === 'unavailable' ? RETRY_AFTER : undefined } = error
    return { status: STATUS[kind], faults: details, retryAfterSeconds: retryAfter }
  }
  const known = KNOWN_ERRORS.find(([kind]) => error instanceof kind)
  if (known === undefined) {
    return { status: 500, faults: [{ message: 'Unexpected error; its details are in the log under this request id' }] }
  }
  const [, status, message = (error as Error).message, retryAfter] = known
  return { status, faults: [{ message }], retryAfterSeconds: retryAfter }
}

/** `{"error": [...], "details": [...], "requestId": "..."}`: the platform APIs, v2 to v4. */
function platformError(faults: readonly ErrorDetail[], requestId: string): object {
  const details = faults.filter((fault) => fault.pointer !== undefined)
  return {
    error: faults.map((fault) => fault.message),
    ...(details.length > 0 && { details: details.map(({ pointer, message }) => ({ pointer, message })) }),
    requestId,
  }
}

const PlatformError = z
  .object({
    error: z.array(z.string()).describe('What is wrong, in sentences.'),
    details: z
      .array(z.object({ pointer: z.string().describe('Where: a JSON pointer, or a parameter.'), message: z.string() }))
      .optional(),
    requestId: z.string().describe("The request's id, under which the log has it."),
  })
  .meta({ id: 'Error' })

/** The platform's APIs where nothing is told otherwise. */
export const platformGroup: EndpointGroup = {
  name: 'platform',
  pathPrefixes: [],
  errorFormat: { mediaType: 'application/json', schema: PlatformError },
  errorResponse: ({ status, faults }, _error, { requestId }) => answered(status, platformError(faults, requestId)),
}

/** What belongs to an account may be kept by its own client alone, and is asked for again each time. */
const PRIVATE = { 'Cache-Control': 'private, no-cache' } as const

/** The platform's APIs for an account's own stones and certifications. */
export const accountGroup: EndpointGroup = {
  ...platformGroup,
  name: 'owned',
  pathPrefixes: ['/v3/diamond', '/v4/diamond', '/v4/certification', '/v4/webhook'],
  headers: PRIVATE,
}

/** @param endpoint the name of what was asked, where that was found */
export type ErrorLogger = (error: unknown, requestId: string, status: number, endpoint?: string) => void

/** Every error that is our fault, with all its details; of a store that is away not each one (outages.ts). */
export const createErrorLogger =
  (log: AppLogger): ErrorLogger =>
  (error, request, status, endpoint) => {
    const isAway = error instanceof StorageError
    log.error(
      { err: error, request, status, ...(endpoint !== undefined && { endpoint }), ...(isAway && { repeats: true }) },
      'request failed',
    )
  }
