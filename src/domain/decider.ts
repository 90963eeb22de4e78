/** What happened: a type, and its data as the schema of that type has them. */
export type DomainEvent = { readonly type: string; readonly data: object }

/**
 * How a stream becomes a state. What may happen in a state is decided by functions beside it, which take the state and give
 * events. All of them are pure.
 */
export type Decider<State, Event extends DomainEvent> = {
  /** Of a stream without events. */
  readonly initialState: State
  /** Total: an event that this release does not know leaves the state as it was. */
  readonly evolve: (state: State, event: Event) => State
  /** For streams that grow long: their newest `count` events do where the state these make suffices; else all are read. */
  readonly tail?: { readonly count: number; readonly isSufficient: (state: State) => boolean }
}

/** A stream whose newest event says all there is to know: the state is its data, undefined without one. */
export const latestEventDecider = <Event extends DomainEvent>(
  type: Event['type'],
): Decider<Event['data'] | undefined, Event> => ({
  initialState: undefined,
  evolve: (before, event) => (event.type === type ? event.data : before),
  tail: { count: 1, isSufficient: () => true },
})

/** Why something asked for is not done. http/errors.ts alone turns a kind into a status and a body. */
export type RequestErrorKind =
  | 'malformed' // 400: can't be parsed
  | 'unauthenticated' // 401
  | 'forbidden' // 403
  | 'missing' // 404
  | 'not-allowed' // 405: with Allow
  | 'too-slow' // 408: the body did not arrive in time
  | 'conflict' // 409: a concurrent change won
  | 'gone' // 410: a link that has expired
  | 'precondition' // 412: If-Match does not hold
  | 'too-large' // 413
  | 'unsupported' // 415: a content type that is not read
  | 'unsatisfiable' // 416: a range behind the end
  | 'invalid' // 422: well-formed, not acceptable
  | 'too-many' // 429
  | 'too-long' // 431: the headers
  | 'unavailable' // 503

/** One thing that is wrong. `pointer`: a JSON Pointer into the body, or a query parameter's name. */
export type ErrorDetail = { readonly message: string; readonly pointer?: string }

export class RequestError extends Error {
  override readonly name = 'Refusal'
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
}
