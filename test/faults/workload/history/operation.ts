/**
 * What a client was told. `unknown` is an answer that never came, or a 503: it may have been carried out or not. `refused` was
 * not carried out. `missing` is a 404.
 */
export type Outcome = 'done' | 'refused' | 'missing' | 'unknown'

/** When it was asked and when it was answered, in milliseconds of one monotonic clock. */
type Asked = { readonly client: number; readonly began: number; readonly ended: number; readonly outcome: Outcome }

/** A stone as an answer shows it. Every write of a history has a price of its own, by which it is known again. */
export type Sight = {
  readonly sku: string
  readonly id: number
  readonly price: number
  /** R of the answer's ETag "R.S": how many changes of its owner it has seen. Lists have none. */
  readonly revision?: number
}

export type StoneOperation = Asked &
  (
    | {
        readonly kind: 'create'
        readonly wanted: readonly { readonly sku: string; readonly price: number }[]
        readonly shown: readonly Sight[]
      }
    | { readonly kind: 'change'; readonly sku: string; readonly price: number; readonly revision?: number }
    | { readonly kind: 'delete'; readonly sku: string }
    | { readonly kind: 'read'; readonly sku: string; readonly shown?: Sight }
    /** All stones of one sku, or everything that the account has; `total` is the answer's count of them. */
    | { readonly kind: 'list'; readonly sku?: string; readonly shown: readonly Sight[]; readonly total: number }
  )

export type SecretOperation = Asked &
  (
    | { readonly kind: 'share'; readonly secret: string }
    /** `value` is what its reader was told, where it was. */
    | { readonly kind: 'reveal'; readonly secret: string; readonly value?: string }
    | { readonly kind: 'burn'; readonly secret: string }
  )

export type TokenOperation = Asked &
  /** The use of an access token; refused with 401 it is `missing`. */
  (
    | { readonly kind: 'use'; readonly token: string }
    /** The exchange of a refresh token for others; one that is not good any more is `missing`. */
    | { readonly kind: 'refresh'; readonly token: string }
    /** A revocation, or what ends a session, with all tokens that it ends. */
    | { readonly kind: 'end'; readonly tokens: readonly string[] }
  )

export type Operation = StoneOperation | SecretOperation | TokenOperation

/** Everything that clients asked for, in any order. */
export type History = {
  readonly operations: readonly Operation[]
  /** Milliseconds that a token may outlive its end: 0 where both processes have one log file. */
  readonly grace: number
}

/** A broken promise: the rule's name, and who was told what. */
export type Violation = { readonly rule: string; readonly what: string }

/** What an operation is called where it is told. */
export const told = ({ kind, client, began, ended, outcome }: Operation): string =>
  `${kind} of client ${client} (${outcome}, ${began.toFixed(0)} to ${ended.toFixed(0)} ms)`

/** Whether it may have changed something: it was carried out, or nobody knows. */
export const mayHave = ({ outcome }: Pick<Operation, 'outcome'>): boolean => outcome === 'done' || outcome === 'unknown'
