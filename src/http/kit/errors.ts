import { z } from 'zod'
import { FAULT_CODES, RequestError, type ErrorDetail, type RequestErrorKind } from '../../domain/request-error.ts'
import { HttpError } from './http-error.ts'
import type { AppLogger } from '../../runtime/logger.ts'
import {
  EventsRemoved,
  LogClosed,
  OutcomeUnknown,
  StorageError,
  StoreUnavailable,
  WrongRevision,
} from '../../stores/ports/event-store.ts'
import { ReadModelNotBuilt } from '../../stores/ports/read-store.ts'
import { BytesMissing } from '../../stores/ports/file-store.ts'
import { InvalidEventPayload, UnsupportedEventVersion } from '../../events/decode.ts'
import { createResponse, type ResponseHeaders } from './response.ts'
import type { EndpointGroup, HttpErrorDetails } from './endpoint.ts'
import type { Html } from './html.ts'

/** An error with response headers: a challenge, a range, the age of the data that it is based on. */
export class ErrorWithHeaders extends Error {
  override readonly name: string = 'ErrorWithHeaders'

  /** @param error the error to respond with; the group's `errorResponse` receives it */
  constructor(
    readonly headers: ResponseHeaders,
    readonly error: unknown,
  ) {
    super(error instanceof Error ? error.message : String(error), { cause: error })
  }
}

/** An error of a page with a form. The page of the error has the form with its input, so that nothing must be typed again. */
export class ErrorWithForm extends ErrorWithHeaders {
  override readonly name = 'ErrorWithForm'

  /** @param error the error to respond with, of any status */
  constructor(
    readonly form: Html,
    error: unknown,
  ) {
    super({}, error)
  }
}

/** Seconds, if a store is unavailable. */
const RETRY_AFTER_SECONDS = 2

const STATUS: Readonly<Record<RequestErrorKind, number>> = {
  malformed: 400,
  unauthenticated: 401,
  forbidden: 403,
  missing: 404,
  conflict: 409,
  gone: 410,
  precondition: 412,
  'too-large': 413,
  invalid: 422,
  'too-many': 429,
  unavailable: 503,
}

type ErrorClass = abstract new (...args: never) => Error

/**
 * Errors that a client can act on. Without a message, the error's own is sent; `retryAfter` is in seconds. The first match
 * wins, so a subclass comes before its parent.
 */
const KNOWN_ERRORS: readonly (readonly [
  errorClass: ErrorClass,
  status: number,
  message?: string | undefined,
  retryAfter?: number,
])[] = [
  [WrongRevision, 409, 'The resource was changed by another request; read it and try again'],
  [EventsRemoved, 409, 'The data of this resource was removed by the operator; the request cannot be completed'],
  // The error's own message names servers and folders.
  [LogClosed, 503, 'This installation accepts no writes: it was moved, is a copy, or was started read-only', 30],
  [ReadModelNotBuilt, 503, 'Lists have not been built from the event log yet; try again', RETRY_AFTER_SECONDS],
  [StoreUnavailable, 503, 'A data store is unavailable; try again', RETRY_AFTER_SECONDS],
  [OutcomeUnknown, 503, 'A data store is unavailable; try again', RETRY_AFTER_SECONDS],
  [
    BytesMissing,
    503,
    'The stored data of this resource is missing or damaged; the operator was notified',
    RETRY_AFTER_SECONDS,
  ],
  [
    UnsupportedEventVersion,
    503,
    'This resource was written by a newer release; an upgrade is in progress, try again',
    RETRY_AFTER_SECONDS,
  ],
  [
    InvalidEventPayload,
    503,
    'The stored data of this resource cannot be read, so nothing was changed; the operator was notified',
    RETRY_AFTER_SECONDS,
  ],
]

/** Maps an error to a status and messages. Unknown errors are 500, without details. */
export function toHttpErrorDetails(error: unknown): HttpErrorDetails {
  if (error instanceof RequestError) {
    const { details, kind, retryAfter = kind === 'unavailable' ? RETRY_AFTER_SECONDS : undefined } = error
    const status = error instanceof HttpError ? error.status : STATUS[kind]
    return { status, faults: details, retryAfterSeconds: retryAfter }
  }
  const known = KNOWN_ERRORS.find(([errorClass]) => error instanceof errorClass)
  if (known === undefined) {
    return { status: 500, faults: [{ message: 'Internal error; the log has the details under this request id' }] }
  }
  const [, status, message = (error as Error).message, retryAfter] = known
  return { status, faults: [{ message }], retryAfterSeconds: retryAfter }
}

/** `{"error": [...], "details": [...], "requestId": "..."}`, the error body of the platform APIs, v2 to v4. */
function platformError(faults: readonly ErrorDetail[], requestId: string): object {
  const details = faults.filter((fault) => fault.pointer !== undefined)
  return {
    error: faults.map((fault) => fault.message),
    ...(details.length > 0 && { details: details.map(({ pointer, message, code }) => ({ pointer, message, code })) }),
    requestId,
  }
}

const PlatformError = z
  .object({
    error: z.array(z.string()).describe('Error messages.'),
    details: z
      .array(
        z.object({
          pointer: z
            .string()
            .describe('The invalid value: a JSON Pointer into the body, or the name of a query parameter.'),
          message: z.string(),
          code: z.enum(FAULT_CODES).meta({ id: 'ErrorCode' }).describe('The kind of error, for programs.'),
        }),
      )
      .optional(),
    requestId: z.string().describe('The X-Request-Id, for finding the request in the log.'),
  })
  .meta({ id: 'Error' })

/** The default group. */
export const platformGroup: EndpointGroup = {
  tag: 'Platform',
  pathPrefixes: [],
  errorFormat: { mediaType: 'application/json', schema: PlatformError },
  errorResponse: ({ status, faults }, _error, { requestId }) =>
    createResponse(status, platformError(faults, requestId)),
}

/** Data for everybody: the dictionaries, the transparency log. */
export const publicDataGroup: EndpointGroup = { ...platformGroup, refusesUnknownParameters: true }

/** Only the client's own cache may store data of an account, and it must revalidate each time. */
const PRIVATE = { 'Cache-Control': 'private, no-cache' } as const

/** The APIs for an account's own diamonds, certifications and webhooks. */
export const accountGroup: EndpointGroup = {
  ...platformGroup,
  tag: 'Inventory',
  pathPrefixes: ['/v3/diamond', '/v4/diamond', '/v4/certification', '/v4/feed', '/v4/import', '/v4/webhook'],
  headers: PRIVATE,
  refusesUnknownParameters: true,
}

/** @param endpoint operation id; absent if no endpoint matched */
export type ErrorLogger = (error: unknown, requestId: string, status: number, endpoint?: string) => void

/** Logs errors of status 500 and above. During an outage of a store, repeated errors are summarised (outages.ts). */
export const createErrorLogger =
  (log: AppLogger): ErrorLogger =>
  (error, requestId, status, endpoint) => {
    const isStorageError = error instanceof StorageError
    log.error(
      {
        err: error,
        request: requestId,
        status,
        ...(endpoint !== undefined && { endpoint }),
        ...(isStorageError && { repeats: true }),
      },
      'request failed',
    )
  }
