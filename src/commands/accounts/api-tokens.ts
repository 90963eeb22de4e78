import { LRUCache } from 'lru-cache'
import { createSecretKey, randomBytes, randomUUID } from 'node:crypto'
import { tokenDigest, hmac, randomToken, sameDigest } from '../../credentials/digests.ts'
import type { FailedAttemptLimiter } from '../../credentials/failed-attempt-limiter.ts'
import * as domain from '../../domain/account/account.ts'
import {
  apiTokenUseFold,
  USE_RECORDING_INTERVAL_MS,
  recordApiTokenUse,
  type Plan,
} from '../../domain/account/account.ts'
import { normaliseEmail } from '../../domain/account/login.ts'
import type { SecurityEventRecorder } from '../../domain/account/security-event.ts'
import type { Origin } from '../../events/event-metadata.ts'
import { comparePositions, type EventStore, type PositionOrStart } from '../../stores/ports/event-store.ts'
import { handle } from '../core/handle.ts'
import type { CommandContext } from '../core/command-context.ts'
import { loadStream } from '../../events/load-stream.ts'
import {
  changeAccount,
  findAccount,
  type AccountCommandContext,
  type ChangedAccount,
  type AccountWithId,
} from './accounts.ts'
import type { AccountDirectory } from './account-directory.ts'

/** `id` identifies the token in lists. `token` is returned only here; the event log stores its digest. */
type IssuedApiToken = ChangedAccount & { readonly id: string; readonly token: string }

/** `lifetimeMs` undefined: the token does not expire. */
type NewApiToken = { readonly email: string; readonly lifetimeMs: number | undefined }

/** @throws RequestError 'missing', or 'conflict' if the account is disabled */
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

/** The first 48 bits of the digest: enough to distinguish an account's tokens, and computable from the token. */
const apiTokenId = (digest: string) => Buffer.from(digest, 'base64url').toString('hex').slice(0, 12)

/**
 * @param command `token` is the token's id, as shown in lists
 * @throws RequestError 'missing'
 */
export const revokeApiToken = (
  accounts: AccountCommandContext,
  command: { email: string; token: string },
  origin: Origin,
) => changeAccount(accounts, command.email, origin, (account) => domain.revokeApiToken(account, command))

/** `apiToken` is the token's id. */
type ApiTokenReference = { readonly account: number; readonly apiToken: string }

const apiTokenUseStream = ({ account, apiToken }: ApiTokenReference) => `apitoken-${account}-${apiToken}`

/** When an API token was last used, to the hour, in milliseconds since 1970. @throws StoreUnavailable */
export async function lastUseOf(store: EventStore, token: ApiTokenReference): Promise<number | undefined> {
  return (await loadStream(store, apiTokenUseStream(token), apiTokenUseFold)).state?.at
}

/** Milliseconds before recording is retried, on the next request after that. */
const RETRY_AFTER_MS = 60_000

/** Records the use of API tokens in the background, with at most one append per token and hour. */
export class ApiTokenUseRecorder {
  /** By stream, on the monotonic clock. */
  readonly #nextRecordingAt = new Map<string, number>()

  /** @param onFailure called if recording fails; a later request retries it */
  constructor(
    private readonly context: CommandContext,
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
      await handle(this.context, { stream, origin }, apiTokenUseFold, recordApiTokenUse)
    } catch (error) {
      this.#nextRecordingAt.set(stream, this.monotonic() + RETRY_AFTER_MS)
      this.onFailure(error)
    }
  }
}

/**
 * The principal behind an API token. `apiToken` is the token's id; `email` is the registered address, or the one
 * presented if that is unavailable.
 */
export type ApiTokenHolder = {
  readonly account: number
  readonly email: string
  readonly plan: Plan
  readonly apiToken: string
}

type ApiTokenVerifierOptions = {
  readonly store: EventStore
  readonly people: AccountDirectory
  readonly attemptLimiter: FailedAttemptLimiter
  readonly security: SecurityEventRecorder
  readonly clock: () => number
  /** Milliseconds; never goes back. */
  readonly monotonic: () => number
  readonly useRecorder: ApiTokenUseRecorder
  /** Accounts that were read before this position may be outdated. */
  readonly feed: { latestAccountPosition(): Promise<PositionOrStart> }
}

/** `cachedUntil` is on the monotonic clock. `expiresAt` is wall-clock time, Infinity if the token does not expire. */
type VerifiedApiToken = {
  readonly holder: ApiTokenHolder
  readonly expiresAt: number
  readonly accountPosition: PositionOrStart
  readonly cachedUntil: number
}

const CACHE_TTL_MS = 10_000
const CACHE_SIZE = 5000

const UNKNOWN_EMAIL = ''

type ApiTokenCredentials = { readonly email: string; readonly token: string; readonly address: string }

/** Authenticates an e-mail address and API token. A change to any account takes effect with the next request. */
export class ApiTokenVerifier {
  readonly #options: ApiTokenVerifierOptions
  /** Cache keys are HMACs, so that memory holds no tokens. */
  readonly #key = createSecretKey(randomBytes(32))
  readonly #cache = new LRUCache<string, VerifiedApiToken>({ max: CACHE_SIZE })
  /** Used to equalize look-up times. */
  #lastFoundEmail = UNKNOWN_EMAIL

  constructor(options: ApiTokenVerifierOptions) {
    this.#options = options
  }

  /**
   * Returns undefined if the address and token do not match, the token has expired, or the account is disabled.
   * @throws RequestError 'too-many', StoreUnavailable
   */
  async verify(credentials: ApiTokenCredentials): Promise<ApiTokenHolder | undefined> {
    const { feed, useRecorder } = this.#options
    const accountPosition = await feed.latestAccountPosition()
    const subject = normaliseEmail(credentials.email)
    const key = hmac(this.#key, `${subject}\n${credentials.token}`).toString('base64url')
    const cached = this.#cache.get(key)
    const verified =
      cached !== undefined && this.#isFresh(cached, accountPosition)
        ? cached
        : await this.#lookUp(credentials, accountPosition)
    if (verified === undefined || this.#options.clock() >= verified.expiresAt) return undefined
    if (verified !== cached) this.#cache.set(key, verified)
    useRecorder.recordUse(verified.holder)
    return verified.holder
  }

  #isFresh(cached: VerifiedApiToken, accountPosition: PositionOrStart): boolean {
    return (
      this.#options.monotonic() < cached.cachedUntil && comparePositions(cached.accountPosition, accountPosition) >= 0
    )
  }

  async #lookUp(
    { email, token, address }: ApiTokenCredentials,
    accountPosition: PositionOrStart,
  ): Promise<VerifiedApiToken | undefined> {
    const { store, people, attemptLimiter, security, monotonic } = this.#options
    const account = await findAccount({ store, people }, email)
    const match = account && matchApiToken(account, token)
    if (account !== undefined) this.#lastFoundEmail = email
    if (account !== undefined && match !== undefined) {
      const holder = { ...match.holder, email: (await people.emailOf(account.account, account)) ?? email }
      return { holder, expiresAt: match.expiresAt, accountPosition, cachedUntil: monotonic() + CACHE_TTL_MS }
    }
    await this.#equalizeLookUpTime(account === undefined ? this.#lastFoundEmail : UNKNOWN_EMAIL, token)
    attemptLimiter.recordWrongCredential('API token', address)
    security({ event: 'wrong-api-token', account: account?.account ?? null, address })
    return undefined
  }

  /**
   * Every refusal looks up one known and one unknown address, so that its timing does not reveal whether the presented
   * address has an account.
   */
  async #equalizeLookUpTime(email: string, token: string): Promise<void> {
    const other = await findAccount(this.#options, email)
    if (other !== undefined) matchApiToken(other, token)
  }
}

function matchApiToken(registeredAccount: AccountWithId, token: string) {
  const { account, plan, status, apiTokens } = registeredAccount
  const digest = tokenDigest(token)
  const issuedToken = apiTokens.find((one) => sameDigest(one.digest, digest))
  if (status !== 'enabled' || issuedToken === undefined) return undefined
  return { holder: { account, plan, apiToken: issuedToken.token }, expiresAt: issuedToken.expiresAt ?? Infinity }
}
