import { LRUCache } from 'lru-cache'
import { createSecretKey, randomBytes, randomUUID } from 'node:crypto'
import { digestOf, hmac, randomToken, sameDigest } from '../../credentials/digests.ts'
import type { GuessLimits } from '../../credentials/guess-limits.ts'
import * as domain from '../../domain/account/account.ts'
import { apiTokenUseDecider, ONE_USE, used, type Plan } from '../../domain/account/account.ts'
import { normaliseEmail } from '../../domain/account/login.ts'
import type { NoteSecurity } from '../../domain/account/security-event.ts'
import type { Origin } from '../../events/origin.ts'
import { comparePositions, type EventStore, type From } from '../../stores/ports/event-store.ts'
import { handle, type Writing } from '../core/handle.ts'
import { load } from '../../events/load.ts'
import { changeAccount, findAccount, type Accounts, type ChangedAccount, type Known } from './accounts.ts'
import type { People } from './people.ts'

/** `id` names the token in lists; `token` is told this once, the log keeps its digest. */
export type IssuedApiToken = ChangedAccount & { readonly id: string; readonly token: string }

/** @param life milliseconds that it lives; undefined for one that does until it is ended */
export type WantedApiToken = { readonly email: string; readonly life: number | undefined }

/** @throws Refusal missing, or conflict when the account is disabled */
export async function issueApiToken(
  accounts: Accounts,
  { email, life }: WantedApiToken,
  origin: Origin,
): Promise<IssuedApiToken> {
  const token = randomToken()
  const digest = digestOf(token)
  const id = apiTokenId(digest)
  const changed = await changeAccount(accounts, email, origin, (account, at) =>
    domain.issueApiToken(account, { token: id, digest, at, ...(life !== undefined && { expiresAt: at + life }) }),
  )
  return { ...changed, id, token }
}

/** 48 bits of the digest: enough to tell an account's tokens apart, and found from the token itself. */
const apiTokenId = (digest: string) => Buffer.from(digest, 'base64url').toString('hex').slice(0, 12)

/**
 * @param wanted `token` is the token's id, as a list shows it
 * @throws Refusal missing
 */
export const revokeApiToken = (accounts: Accounts, wanted: { email: string; token: string }, origin: Origin) =>
  changeAccount(accounts, wanted.email, origin, (account) => domain.revokeApiToken(account, wanted))

/** An account's id, and its API token's. */
export type UsedToken = { readonly account: number; readonly apiToken: string }

const useStream = ({ account, apiToken }: UsedToken) => `apitoken-${account}-${apiToken}`

/** When an API token was used last, to the hour, in milliseconds since 1970. @throws StoreUnavailable */
export async function lastUseOf(store: EventStore, token: UsedToken): Promise<number | undefined> {
  return (await load(store, useStream(token), apiTokenUseDecider)).state?.at
}

/** Milliseconds until a use that could not be recorded is tried again, with the next request. */
const AGAIN = 60_000

/** Records that API tokens are used: an append an hour for each at most, which no request waits for. */
export class ApiTokenUses {
  /** Until when a token's use need not be recorded, by a clock that never goes back. */
  readonly #until = new Map<string, number>()

  /** @param failed is told of a use that could not be recorded; the next request tries again */
  constructor(
    private readonly writing: Writing,
    private readonly monotonic: () => number,
    private readonly failed: (error: unknown) => void,
  ) {}

  note(token: UsedToken): void {
    const stream = useStream(token)
    const now = this.monotonic()
    if (now < (this.#until.get(stream) ?? -Infinity)) return
    this.#until.set(stream, now + ONE_USE)
    void this.#record(stream, token.account)
  }

  async #record(stream: string, account: number): Promise<void> {
    const origin = { actor: `account-${account}`, via: 'http', correlation: randomUUID() } as const
    try {
      await handle(this.writing, { stream, origin }, apiTokenUseDecider, used)
    } catch (error) {
      this.#until.set(stream, this.monotonic() + AGAIN)
      this.failed(error)
    }
  }
}

/** Who showed an API token. `apiToken` is its id, `email` as it was registered, or as it was shown where that is lost. */
export type ApiCaller = {
  readonly account: number
  readonly email: string
  readonly plan: Plan
  readonly apiToken: string
}

export type ApiTokenVerifierOptions = {
  readonly store: EventStore
  readonly people: People
  readonly guesses: GuessLimits
  readonly security: NoteSecurity
  readonly clock: () => number
  /** Milliseconds that never go back. */
  readonly monotonic: () => number
  readonly uses: ApiTokenUses
  /** The session feed: what was read from accounts before its answer may be outdated. */
  readonly feed: { accountsChangedAt(): From | Promise<From> }
}

/** `until` is of the monotonic clock, `expiresAt` a time of day: Infinity for a token that does not expire. */
type Verified = {
  readonly caller: ApiCaller
  readonly expiresAt: number
  readonly asOf: From
  readonly until: number
}

/** Milliseconds that a verified credential is not looked up again. */
const REMEMBERED_FOR = 10_000
const REMEMBERED = 5000

/** An address that no account has. */
const NOBODY = ''

type Shown = { readonly email: string; readonly token: string; readonly address: string }

/** Tells whose an e-mail address and an API token are. A change of any account is known before the next answer. */
export class ApiTokenVerifier {
  readonly #options: ApiTokenVerifierOptions
  /** What is remembered is found by an HMAC, so that memory holds no token. */
  readonly #key = createSecretKey(randomBytes(32))
  readonly #verified = new LRUCache<string, Verified>({ max: REMEMBERED })
  /** The address of the account that was found last. */
  #another = NOBODY

  constructor(options: ApiTokenVerifierOptions) {
    this.#options = options
  }

  /**
   * Undefined when the two don't belong together, the token has expired, or the account is disabled.
   * @throws Refusal too-many, StoreUnavailable
   */
  async verify(shown: Shown): Promise<ApiCaller | undefined> {
    const { feed, uses } = this.#options
    const changedAt = feed.accountsChangedAt()
    const asOf = changedAt instanceof Promise ? await changedAt : changedAt
    const subject = normaliseEmail(shown.email)
    const key = hmac(this.#key, `${subject}\n${shown.token}`).toString('base64url')
    const known = this.#verified.get(key)
    const verified = known !== undefined && this.#holds(known, asOf) ? known : await this.#lookUp(shown, asOf)
    if (verified === undefined || this.#options.clock() >= verified.expiresAt) return undefined
    if (verified !== known) this.#verified.set(key, verified)
    uses.note(verified.caller)
    return verified.caller
  }

  #holds(known: Verified, asOf: From): boolean {
    return this.#options.monotonic() < known.until && comparePositions(known.asOf, asOf) >= 0
  }

  async #lookUp({ email, token, address }: Shown, asOf: From): Promise<Verified | undefined> {
    const { store, people, guesses, security, monotonic } = this.#options
    const account = await findAccount({ store, people }, email)
    const found = account && verifiedBy(account, token)
    if (account !== undefined) this.#another = email
    if (account !== undefined && found !== undefined) {
      const caller = { ...found.caller, email: (await people.addressOf(account.account, account)) ?? email }
      return { caller, expiresAt: found.expiresAt, asOf, until: monotonic() + REMEMBERED_FOR }
    }
    await this.#lookAtAnother(account === undefined ? this.#another : NOBODY, token)
    guesses.wrong('API token', address)
    security({ event: 'wrong-api-token', account: account?.account ?? null, address })
    return undefined
  }

  /**
   * Who is refused has caused a look at an address that is known, and one at an address that is not: how soon the refusal
   * comes must not tell which of them it was asked for.
   */
  async #lookAtAnother(email: string, token: string): Promise<void> {
    const other = await findAccount(this.#options, email)
    if (other !== undefined) verifiedBy(other, token)
  }
}

function verifiedBy(known: Known, token: string) {
  const { account, plan, status, apiTokens } = known
  const digest = digestOf(token)
  const shown = apiTokens.find((one) => sameDigest(one.digest, digest))
  if (status !== 'enabled' || shown === undefined) return undefined
  return { caller: { account, plan, apiToken: shown.token }, expiresAt: shown.expiresAt ?? Infinity }
}
