import { LRUCache } from 'lru-cache'
import { createSecretKey, timingSafeEqual, type KeyObject } from 'node:crypto'
import { z } from 'zod'
import { logEpochMember, FIRST_EPOCH } from '../domain/installation/installation.ts'
import type { Grant } from '../domain/session/session.ts'
import { hmac } from './digests.ts'
import { deriveKey, type MasterKey, type MasterKeys } from './master-keys.ts'

/** `session` and `number` identify the token. Times are in milliseconds since 1970. */
export type AccessClaims = Grant & {
  readonly session: string
  readonly number: number
  readonly issuedAt: number
  readonly expiresAt: number
}

type AccessTokensOptions = {
  readonly keys: MasterKeys
  /** Lifetime in seconds. It also limits tokens that were issued under a longer one. */
  readonly ttl: number
  readonly clock: () => number
  /** How many verified tokens to cache. */
  readonly cacheSize?: number
}

/**
 * The last member is the log's epoch. It is omitted if the log was never restored, as in releases before restores
 * existed.
 */
const payload = z.tuple([
  z.int(),
  z.int(),
  z.string(),
  z.int(),
  z.string(),
  z.int(),
  z.int(),
  z.int(),
  z.int().optional(),
])

/**
 * Stateless access tokens: `v1.{key id}.{claims, base64url}.{HMAC-SHA256 of everything before, base64url}`. Verified
 * tokens are cached.
 */
export class AccessTokens {
  readonly ttl: number
  readonly #clock: () => number
  readonly #current: string
  readonly #keys: ReadonlyMap<string, KeyObject>
  readonly #verifiedTokens: LRUCache<string, AccessClaims>

  constructor({ keys, ttl, clock, cacheSize = 5000 }: AccessTokensOptions) {
    const masterKeys = [keys.current, keys.old].filter((key): key is MasterKey => key !== undefined)
    this.ttl = ttl
    this.#clock = clock
    this.#current = keys.current.id
    this.#keys = new Map(masterKeys.map((key) => [key.id, createSecretKey(deriveKey(key, 'access-token'))]))
    this.#verifiedTokens = new LRUCache({ max: cacheSize })
  }

  issue(grant: Grant, session: string, number: number): string {
    const { account, accountEpoch, client, clientEpoch, logEpoch } = grant
    const now = this.#clock()
    const claims = [account, accountEpoch, client, clientEpoch, session, number, now, now + this.ttl * 1000]
    if (logEpoch !== undefined) claims.push(logEpoch)
    const signed = `v1.${this.#current}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`
    return `${signed}.${this.#sign(this.#current, signed)?.toString('base64url')}`
  }

  /** The claims of a token that this service issued, `expired` after its lifetime, or `invalid`. */
  verify(token: string): AccessClaims | 'invalid' | 'expired' {
    const claims = this.#verifiedTokens.get(token) ?? this.#openAndCache(token)
    if (claims === undefined) return 'invalid'
    return this.#clock() < claims.expiresAt ? claims : 'expired'
  }

  #openAndCache(token: string): AccessClaims | undefined {
    const claims = this.#open(token)
    if (claims !== undefined) this.#verifiedTokens.set(token, claims)
    return claims
  }

  #open(token: string): AccessClaims | undefined {
    const [version, key, body, signature, ...rest] = token.split('.')
    if (version !== 'v1' || key === undefined || body === undefined || signature === undefined || rest.length > 0) {
      return undefined
    }
    const expected = this.#sign(key, `v1.${key}.${body}`)
    if (expected === undefined || !isSignature(signature, expected)) return undefined
    const parsed = payload.safeParse(JSON.parse(Buffer.from(body, 'base64url').toString()))
    if (!parsed.success) return undefined
    const [account, accountEpoch, client, clientEpoch, session, number, issuedAt, until, logEpoch = FIRST_EPOCH] =
      parsed.data
    const expiresAt = Math.min(until, issuedAt + this.ttl * 1000)
    const grant = { account, accountEpoch, client, clientEpoch, ...logEpochMember(logEpoch) }
    return { ...grant, session, number, issuedAt, expiresAt }
  }

  #sign(key: string, text: string): Buffer | undefined {
    const secret = this.#keys.get(key)
    return secret && hmac(secret, text)
  }
}

/** Base64url can encode one value in several ways; only the canonical one is accepted. */
function isSignature(given: string, expected: Buffer): boolean {
  const bytes = Buffer.from(given, 'base64url')
  return bytes.length === expected.length && timingSafeEqual(bytes, expected) && bytes.toString('base64url') === given
}
