import { RequestError, type ErrorDetail } from '../../domain/request-error.ts'

/**
 * Statuses that only HTTP has: a method that the resource does not have, a body that did not arrive in time, an unsupported content
 * type or encoding, a range beyond the end of the resource, headers that are too long.
 */
type HttpErrorStatus = 405 | 408 | 415 | 416 | 431

/** Rejects a request that HTTP's rules do not allow, whatever it asks for. */
export class HttpError extends RequestError {
  constructor(
    readonly status: HttpErrorStatus,
    faults: string | readonly ErrorDetail[],
  ) {
    super('malformed', faults)
  }

  override withDetails(details: readonly ErrorDetail[]): HttpError {
    return new HttpError(this.status, details)
  }
}
