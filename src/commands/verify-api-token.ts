import { randomBytes } from 'node:crypto'
import { digestOf, sameDigest } from '../credentials/digests.ts'
import type { GuessLimits } from '../credentials/guess-limits.ts'
import { hmac } from '../credentials/key-derivation.ts'
import type { Plan } from '../domain/account.ts'
import { normaliseEmail } from '../domain/login.ts'
import type { NoteSecurity } from '../domain/security-event.ts'
import { comparePositions, type EventStore, type From } from '../stores/event-store.ts'
import { findAccount, type Known } from './logins.ts'

/** Who showed an API token. `apiToken` is its id, `email` as it was registered. */
export type ApiCaller = {
  readonly account: number
  readonly email: string
  readonly plan: Plan
  readonly apiToken: string
}

export type ApiTokenVerifierOptions = {
  readonly store: EventStore
  readonly guesses: GuessLimits
  readonly security: NoteSecurity
  readonly clock: () => number
  /** The session feed: what was read from accounts before its answer may be outdated. */
  readonly feed: { accountsChangedAt(): From | Promise<From> }
}

type Verified = { readonly caller: ApiCaller; readonly asOf: From; readonly until: number }

/** Milliseconds that a verified credential is not looked up again. */
const REMEMBERED_FOR = 10_000
const REMEMBERED = 5000

/** Tells whose an e-mail address and an API token are. A change of any account is known before the next answer. */
export class ApiTokenVerifier {
  readonly #options: ApiTokenVerifierOptions
  /** What is remembered is found by an HMAC, so that memory holds no token. */
  readonly #key = randomBytes(32)
  readonly #verified = new Map<string, Verified>()

  constructor(options: ApiTokenVerifierOptions) {
    this.#options = options
  }

  /**
   * Undefined when the two don't belong together, or the account is disabled.
   * @throws Refusal too-many, StoreUnavailable
   */
  async verify(shown: { email: string; token: string; address: string }): Promise<ApiCaller | undefined> {
    const { store, feed, guesses, security, clock } = this.#options
    const changedAt = feed.accountsChangedAt()
    const asOf = changedAt instanceof Promise ? await changedAt : changedAt
    const subject = normaliseEmail(shown.email)
    const key = hmac(this.#key, `${subject}\n${shown.token}`).toString('base64url')
    const known = this.#verified.get(key)
    if (known !== undefined && clock() < known.until && comparePositions(known.asOf, asOf) >= 0) return known.caller
    const account = await findAccount(store, shown.email)
    const caller = account && callerOf(account, shown.token)
    if (caller === undefined) {
      guesses.wrong('API token', shown.address)
      security({ event: 'wrong-api-token', account: account?.account ?? null, address: shown.address })
      return undefined
    }
    this.#remember(key, { caller, asOf, until: clock() + REMEMBERED_FOR })
    return caller
  }

  #remember(key: string, verified: Verified): void {
    this.#verified.delete(key)
    if (this.#verified.size >= REMEMBERED) this.#verified.delete(this.#verified.keys().next().value ?? '')
    this.#verified.set(key, verified)
  }
}

function callerOf({ account, email, plan, status, apiTokens }: Known, token: string): ApiCaller | undefined {
  const digest = digestOf(token)
  const shown = apiTokens.find((known) => sameDigest(known.digest, digest))
  return status === 'enabled' && shown !== undefined ? { account, email, plan, apiToken: shown.token } : undefined
}
