/**
 * The outcome of a request. `unknown`: no response or a 503, so the request may have been executed. `refused`: not executed.
 * `missing`: a 404.
 */
export type Outcome = 'done' | 'refused' | 'missing' | 'unknown'

/** Times of request and response in milliseconds of one monotonic clock. */
type OperationBase = {
  readonly client: number
  readonly startedAt: number
  readonly endedAt: number
  readonly outcome: Outcome
}

/** A stone in a response. Each write in a history sets a unique price, which identifies it. */
export type SeenStone = {
  readonly sku: string
  readonly id: number
  readonly price: number
  /** R of the response's ETag "R.S", the number of the owner's changes. Lists do not have it. */
  readonly revision?: number
}

export type StoneOperation = OperationBase &
  (
    | {
        readonly kind: 'create'
        readonly wanted: readonly { readonly sku: string; readonly price: number }[]
        readonly shown: readonly SeenStone[]
      }
    | { readonly kind: 'change'; readonly sku: string; readonly price: number; readonly revision?: number }
    | { readonly kind: 'delete'; readonly sku: string }
    | { readonly kind: 'read'; readonly sku: string; readonly shown?: SeenStone }
    /** All stones with one sku or all stones of the account; `total` is the number in the response. */
    | { readonly kind: 'list'; readonly sku?: string; readonly shown: readonly SeenStone[]; readonly total: number }
  )

export type SecretOperation = OperationBase &
  (
    | { readonly kind: 'share'; readonly secret: string }
    /** `value` is the revealed value. */
    | { readonly kind: 'reveal'; readonly secret: string; readonly value?: string }
    | { readonly kind: 'burn'; readonly secret: string }
  )

export type TokenOperation = OperationBase &
  /** A request with an access token; a 401 is `missing`. */
  (
    | { readonly kind: 'use'; readonly token: string }
    /** The exchange of a refresh token; if the token is invalid, the outcome is `missing`. */
    | { readonly kind: 'refresh'; readonly token: string }
    /** A revocation, with all tokens that it ends. */
    | { readonly kind: 'end'; readonly tokens: readonly string[] }
  )

export type Operation = StoneOperation | SecretOperation | TokenOperation

/** All operations of all clients, in any order. */
export type History = {
  readonly operations: readonly Operation[]
  /** Milliseconds for which a token may be accepted after its end: 0 if all processes share a log file. */
  readonly grace: number
}

/** A violated guarantee: its name and a description of the violation. */
export type Violation = { readonly rule: string; readonly description: string }

/** The description of an operation in a violation. */
export const describe = ({ kind, client, startedAt, endedAt, outcome }: Operation): string =>
  `${kind} of client ${client} (${outcome}, ${startedAt.toFixed(0)} to ${endedAt.toFixed(0)} ms)`

/** Whether an operation was executed or may have been. */
export const mayHaveExecuted = ({ outcome }: Pick<Operation, 'outcome'>): boolean =>
  outcome === 'done' || outcome === 'unknown'
