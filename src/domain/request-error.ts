/** The kind of a rejected request. Only http/kit/errors.ts maps kinds to statuses and bodies. */
export type RequestErrorKind =
  | 'malformed' // 400: can't be parsed
  | 'unauthenticated' // 401
  | 'forbidden' // 403
  | 'missing' // 404
  | 'conflict' // 409: a concurrent change won
  | 'gone' // 410: a link that has expired
  | 'precondition' // 412: If-Match does not match
  | 'too-large' // 413
  | 'invalid' // 422: well-formed, but a value is not acceptable
  | 'too-many' // 429
  | 'unavailable' // 503

/** Kinds of faults, for programs. They are part of the API: names stay, and the meaning of each stands in docs/api.md. */
export const FAULT_CODES = [
  'required',
  'type',
  'range',
  'format',
  'unknown_field',
  'unknown_parameter',
  'unknown_value',
  'duplicate',
  'not_found',
  'forbidden',
] as const
export type FaultCode = (typeof FAULT_CODES)[number]

/** One fault of a request. `pointer`: a JSON Pointer into the body, or the name of a query parameter. */
export type ErrorDetail =
  | { readonly message: string; readonly pointer: string; readonly code: FaultCode }
  | { readonly message: string; readonly pointer?: undefined; readonly code?: undefined }

/** Rejects a request: the response has the status of `kind` and the messages of `details`. */
export class RequestError extends Error {
  override readonly name = 'RequestError'
  readonly details: readonly ErrorDetail[]

  /** @param retryAfter seconds, for `too-many` and `unavailable` */
  constructor(
    readonly kind: RequestErrorKind,
    faults: string | readonly ErrorDetail[],
    readonly retryAfter?: number,
  ) {
    const list = typeof faults === 'string' ? [{ message: faults }] : faults
    super(list.map((fault) => fault.message).join('; '))
    this.details = list
  }

  /** The same rejection with other details. */
  withDetails(details: readonly ErrorDetail[]): RequestError {
    return new RequestError(this.kind, details, this.retryAfter)
  }
}
