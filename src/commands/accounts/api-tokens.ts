import { LRUCache } from 'lru-cache'
import { createSecretKey, randomBytes, randomUUID } from 'node:crypto'
import { tokenDigest, hmac, randomToken, sameDigest } from '../../credentials/digests.ts'
import type { FailedAttemptLimiter } from '../../credentials/failed-attempt-limiter.ts'
import * as domain from '../../domain/account/account.ts'
import {
  apiTokenUseDecider,
  USE_RECORDING_INTERVAL_MS,
  recordApiTokenUse,
  type Plan,
} from '../../domain/account/account.ts'
import { normaliseEmail } from '../../domain/account/login.ts'
import type { SecurityEventRecorder } from '../../domain/account/security-event.ts'
import type { Origin } from '../../events/event-metadata.ts'
import { comparePositions, type EventStore, type PositionOrStart } from '../../stores/ports/event-store.ts'
import { handle, type CommandContext } from '../core/handle.ts'
import { loadStream } from '../../events/load-stream.ts'
import {
  changeAccount,
  findAccount,
  type AccountCommandContext,
  type ChangedAccount,
  type AccountWithId,
} from './accounts.ts'
import type { AccountDirectory } from './account-directory.ts'

/** `id` names the token in lists; `token` is told this once, the log keeps its digest. */
export type IssuedApiToken = ChangedAccount & { readonly id: string; readonly token: string }

/** @param life milliseconds that it lives; undefined for one that does until it is ended */
export type NewApiToken = { readonly email: string; readonly lifetimeMs: number | undefined }

/** @throws Refusal missing, or conflict when the account is disabled */
export async function issueApiToken(
  accounts: AccountCommandContext,
  { email, lifetimeMs }: NewApiToken,
  origin: Origin,
): Promise<IssuedApiToken> {
  const token = randomToken()
  const digest = tokenDigest(token)
  const id = apiTokenId(digest)
  const changed = await changeAccount(accounts, email, origin, (account, at) =>
    domain.issueApiToken(account, {
      token: id,
      digest,
      at,
      ...(lifetimeMs !== undefined && { expiresAt: at + lifetimeMs }),
    }),
  )
  return { ...changed, id, token }
}

/** 48 bits of the digest: enough to tell an account's tokens apart, and found from the token itself. */
const apiTokenId = (digest: string) => Buffer.from(digest, 'base64url').toString('hex').slice(0, 12)

/**
 * @param wanted `token` is the token's id, as a list shows it
 * @throws Refusal missing
 */
export const revokeApiToken = (
  accounts: AccountCommandContext,
  wanted: { email: string; token: string },
  origin: Origin,
) => changeAccount(accounts, wanted.email, origin, (account) => domain.revokeApiToken(account, wanted))

/** An account's id, and its API token's. */
export type ApiTokenReference = { readonly account: number; readonly apiToken: string }

const apiTokenUseStream = ({ account, apiToken }: ApiTokenReference) => `apitoken-${account}-${apiToken}`

/** When an API token was used last, to the hour, in milliseconds since 1970. @throws StoreUnavailable */
export async function lastUseOf(store: EventStore, token: ApiTokenReference): Promise<number | undefined> {
  return (await loadStream(store, apiTokenUseStream(token), apiTokenUseDecider)).state?.at
}

/** Milliseconds until a use that could not be recorded is tried again, with the next request. */
const RETRY_AFTER_MS = 60_000

/** Records that API tokens are used: an append an hour for each at most, which no request waits for. */
export class ApiTokenUseRecorder {
  /** Until when a token's use need not be recorded, by a clock that never goes back. */
  readonly #nextRecordingAt = new Map<string, number>()

  /** @param failed is told of a use that could not be recorded; the next request tries again */
  constructor(
    private readonly writing: CommandContext,
    private readonly monotonic: () => number,
    private readonly onFailure: (error: unknown) => void,
  ) {}

  recordUse(token: ApiTokenReference): void {
    const stream = apiTokenUseStream(token)
    const now = this.monotonic()
    if (now < (this.#nextRecordingAt.get(stream) ?? -Infinity)) return
    this.#nextRecordingAt.set(stream, now + USE_RECORDING_INTERVAL_MS)
    void this.#record(stream, token.account)
  }

  async #record(stream: string, account: number): Promise<void> {
    const origin = { actor: `account-${account}`, via: 'http', correlation: randomUUID() } as const
    try {
      await handle(this.writing, { stream, origin }, apiTokenUseDecider, recordApiTokenUse)
    } catch (error) {
      this.#nextRecordingAt.set(stream, this.monotonic() + RETRY_AFTER_MS)
      this.onFailure(error)
    }
  }
}

/** Who showed an API token. `apiToken` is its id, `email` as it was registered, or as it was shown where that is lost. */
export type ApiTokenHolder = {
  readonly account: number
  readonly email: string
  readonly plan: Plan
  readonly apiToken: string
}

export type ApiTokenVerifierOptions = {
  readonly store: EventStore
  readonly people: AccountDirectory
  readonly guesses: FailedAttemptLimiter
  readonly security: SecurityEventRecorder
  readonly clock: () => number
  /** Milliseconds that never go back. */
  readonly monotonic: () => number
  readonly uses: ApiTokenUseRecorder
  /** The session feed: what was read from accounts before its answer may be outdated. */
  readonly feed: { latestAccountPosition(): PositionOrStart | Promise<PositionOrStart> }
}

/** `until` is of the monotonic clock, `expiresAt` a time of day: Infinity for a token that does not expire. */
type VerifiedApiToken = {
  readonly holder: ApiTokenHolder
  readonly expiresAt: number
  readonly asOf: PositionOrStart
  readonly cachedUntil: number
}

/** Milliseconds that a verified credential is not looked up again. */
const CACHE_TTL_MS = 10_000
const CACHE_SIZE = 5000

/** An address that no account has. */
const UNKNOWN_EMAIL = ''

type ApiTokenCredentials = { readonly email: string; readonly token: string; readonly address: string }

/** Tells whose an e-mail address and an API token are. A change of any account is known before the next answer. */
export class ApiTokenVerifier {
  readonly #options: ApiTokenVerifierOptions
  /** What is remembered is found by an HMAC, so that memory holds no token. */
  readonly #key = createSecretKey(randomBytes(32))
  readonly #cache = new LRUCache<string, VerifiedApiToken>({ max: CACHE_SIZE })
  /** The address of the account that was found last. */
  #lastFoundEmail = UNKNOWN_EMAIL

  constructor(options: ApiTokenVerifierOptions) {
    this.#options = options
  }

  /**
   * Undefined when the two don't belong together, the token has expired, or the account is disabled.
   * @throws Refusal too-many, StoreUnavailable
   */
  async verify(credentials: ApiTokenCredentials): Promise<ApiTokenHolder | undefined> {
    const { feed, uses } = this.#options
    const changedAt = feed.latestAccountPosition()
    const asOf = changedAt instanceof Promise ? await changedAt : changedAt
    const subject = normaliseEmail(credentials.email)
    const key = hmac(this.#key, `${subject}\n${credentials.token}`).toString('base64url')
    const known = this.#cache.get(key)
    const verified = known !== undefined && this.#isFresh(known, asOf) ? known : await this.#lookUp(credentials, asOf)
    if (verified === undefined || this.#options.clock() >= verified.expiresAt) return undefined
    if (verified !== known) this.#cache.set(key, verified)
    uses.recordUse(verified.holder)
    return verified.holder
  }

  #isFresh(known: VerifiedApiToken, asOf: PositionOrStart): boolean {
    return this.#options.monotonic() < known.cachedUntil && comparePositions(known.asOf, asOf) >= 0
  }

  async #lookUp(
    { email, token, address }: ApiTokenCredentials,
    asOf: PositionOrStart,
  ): Promise<VerifiedApiToken | undefined> {
    const { store, people, guesses, security, monotonic } = this.#options
    const account = await findAccount({ store, people }, email)
    const found = account && matchApiToken(account, token)
    if (account !== undefined) this.#lastFoundEmail = email
    if (account !== undefined && found !== undefined) {
      const holder = { ...found.holder, email: (await people.emailOf(account.account, account)) ?? email }
      return { holder, expiresAt: found.expiresAt, asOf, cachedUntil: monotonic() + CACHE_TTL_MS }
    }
    await this.#equalizeLookUpTime(account === undefined ? this.#lastFoundEmail : UNKNOWN_EMAIL, token)
    guesses.recordWrongCredential('API token', address)
    security({ event: 'wrong-api-token', account: account?.account ?? null, address })
    return undefined
  }

  /**
   * Who is refused has caused a look at an address that is known, and one at an address that is not: how soon the refusal
   * comes must not tell which of them it was asked for.
   */
  async #equalizeLookUpTime(email: string, token: string): Promise<void> {
    const other = await findAccount(this.#options, email)
    if (other !== undefined) matchApiToken(other, token)
  }
}

function matchApiToken(known: AccountWithId, token: string) {
  const { account, plan, status, apiTokens } = known
  const digest = tokenDigest(token)
  const shown = apiTokens.find((one) => sameDigest(one.digest, digest))
  if (status !== 'enabled' || shown === undefined) return undefined
  return { holder: { account, plan, apiToken: shown.token }, expiresAt: shown.expiresAt ?? Infinity }
}
