/**
 * What an auditor or an alarm wants to know of. Nothing in it lets anybody in, and nothing that a caller typed stands in
 * it: people type passwords where their name belongs. `account` is null where there is none of that name.
 */
export type SecurityEvent =
  | ({ readonly event: 'log-in' } & LoginAttempt)
  | ({ readonly event: 'log-in-failed' } & LoginAttempt)
  | {
      readonly event: 'wrong-client-secret'
      /** null where there is no such client. */
      readonly client: string | null
      readonly address: string
    }
  | { readonly event: 'wrong-api-token'; readonly account: number | null; readonly address: string }
  | Lockout
  | {
      readonly event: 'administration'
      /** The command, such as `user disable`, and what it was given. */
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

/** What is refused from now on, for as long as the failures before it count. */
export type Lockout = {
  readonly event: 'locked-out'
  readonly what: 'log-ins' | 'client secrets' | 'API tokens'
  /** Of whom: an account's id, or null for a name that nobody has; undefined for all of an address. */
  readonly account?: number | null
  /** From where; undefined for all addresses together. */
  readonly address?: string
  readonly seconds: number
}

/** Takes note of what happened; it never fails and nobody waits for it. */
export type SecurityEventRecorder = (event: SecurityEvent) => void
