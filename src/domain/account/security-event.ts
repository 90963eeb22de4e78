/**
 * An entry of the security log, for auditors and alerts. It contains no credentials, and no text that a caller typed, since
 * people type passwords into the name field. `account` is null if no account has the given name.
 */
export type SecurityEvent =
  | ({ readonly event: 'log-in' } & LoginAttempt)
  | ({ readonly event: 'log-in-failed' } & LoginAttempt)
  | {
      readonly event: 'wrong-client-secret'
      /** null if the client is unknown. */
      readonly client: string | null
      readonly address: string
    }
  | { readonly event: 'wrong-api-token'; readonly account: number | null; readonly address: string }
  | Lockout
  | {
      readonly event: 'administration'
      /** The command with its arguments, such as `user disable`. */
      readonly act: string
      readonly subject: string
      readonly osUser: string
      readonly outcome: 'done' | 'failed'
      readonly request: string
    }
  | {
      readonly event: 'refresh-token-reused'
      readonly account: number
      readonly client: string
      readonly session: string
      readonly request: string
    }

type LoginAttempt = {
  readonly account: number | null
  readonly client: string
  readonly address: string
  readonly request: string
}

/** A lock-out: attempts are rejected until the failures that caused it no longer count. */
export type Lockout = {
  readonly event: 'locked-out'
  readonly what: 'log-ins' | 'client secrets' | 'API tokens'
  /** An account's id; null for an unknown name; undefined if the lock-out applies to all accounts. */
  readonly account?: number | null
  /** A client address; undefined if the lock-out applies to all addresses. */
  readonly address?: string
  readonly seconds: number
}

/** Writes the entry in the background; never throws. */
export type SecurityEventRecorder = (event: SecurityEvent) => void
