import { LRUCache } from 'lru-cache'
import { timingSafeEqual, type KeyObject } from 'node:crypto'
import { parse } from 'node:querystring'
import type { LinkKey } from '../../commands/installation/link-key.ts'
import { hmac } from '../../credentials/digests.ts'
import { RequestError } from '../../domain/request-error.ts'
import { findMistypedNames } from './parameters/query.ts'
import { LINK_LIFETIMES, type LinkLifetime, type LinkBuilder } from '../../representations/json.ts'

/** Cache size. Lists show the same links repeatedly, and an HMAC takes 3 µs. */
const MAX_CACHED_LINKS = 20_000

/** Minimum lifetime of a link that expires. */
const LINK_LIFETIME_SECONDS = 86_400
/** Seconds. Expiry times are rounded up to this step, so that a cached link can be reused. */
export const LINK_STEP = 300
/** Allowed clock skew between instances. A link that expires later than that allows was signed by a wrong clock and is rejected. */
const CLOCK_SKEW_SECONDS = 600

/** Time within which every process has picked up a new signing key. */
const KEY_ROTATION_DELAY_MS = 10_000

/** A signature is the expiry (seconds since 1970, 0 for never), the revision, 4 bytes each, and 128 bits of HMAC. */
const SIGNED_PREFIX_BYTES = 8
const SIGNATURE_BYTES = SIGNED_PREFIX_BYTES + 16

/** The content of a valid signature. `revision`: see `signed`. */
type VerifiedLink = { readonly revision: number; readonly isExpired: boolean }

/** Creates and verifies links with the service's base URL, with or without a signature. */
export class SignedLinks implements LinkBuilder {
  readonly #cachedLinks = new LRUCache<string, string>({ max: MAX_CACHED_LINKS })
  /** Key and expiry of the cached links; expiry in seconds since 1970. */
  #signingKey: KeyObject | undefined
  #cacheExpiresAt = 0

  /**
   * @param baseUrl such as https://api.example.com
   * @param clock milliseconds since 1970
   */
  constructor(
    readonly baseUrl: string,
    private readonly keys: { readonly current: LinkKey },
    private readonly clock: () => number,
  ) {}

  plain(path: string): string {
    return this.baseUrl + path
  }

  signed(path: string, lifetime: LinkLifetime, revision: number): string {
    this.#evictExpired()
    const cacheKey = `${path} ${lifetime}${revision}`
    const cachedLink = this.#cachedLinks.get(cacheKey)
    if (cachedLink !== undefined) return cachedLink
    const expiresAt = lifetime === LINK_LIFETIMES.oneDay ? this.#newLinkExpiresAt() : 0
    const link = `${this.baseUrl}${path}?signature=${this.#sign(path, expiresAt, revision)}`
    this.#cachedLinks.set(cacheKey, link)
    return link
  }

  /**
   * Whether the signed links in every cached copy of a body are still valid, so that a 304 may be sent. False if a copy could
   * be from before the current key, or nearly a day old.
   * @param lifetimes of the signed links in the body
   * @param changedAt milliseconds since 1970; no copy is older
   */
  areStillValid(lifetimes: readonly LinkLifetime[], changedAt: number): boolean {
    if (lifetimes.length === 0) return true
    const { since } = this.keys.current
    if (since > 0 && changedAt < since + KEY_ROTATION_DELAY_MS) return false
    return (
      !lifetimes.includes(LINK_LIFETIMES.oneDay) ||
      this.clock() < changedAt + (LINK_LIFETIME_SECONDS - CLOCK_SKEW_SECONDS) * 1000
    )
  }

  /** Verifies the signature of a path in constant time. @returns undefined if it is invalid */
  verify(path: string, signature: string): VerifiedLink | undefined {
    const bytes = Buffer.from(signature, 'base64url')
    if (bytes.length !== SIGNATURE_BYTES) return undefined
    const [expiresAt, revision] = [bytes.readUInt32BE(0), bytes.readUInt32BE(4)]
    const expected = Buffer.from(this.#sign(path, expiresAt, revision))
    const actual = Buffer.from(signature)
    if (expected.length !== actual.length || !timingSafeEqual(expected, actual)) return undefined
    return { revision, isExpired: this.#hasExpired(expiresAt) }
  }

  /** A 128-bit MAC. The text must start with a word, so that it can never be a path with a signature. */
  mac(text: string): Buffer {
    return hmac(this.keys.current.key, text).subarray(0, SIGNATURE_BYTES - SIGNED_PREFIX_BYTES)
  }

  #hasExpired(expiresAt: number): boolean {
    const now = this.clock() / 1000
    return (
      expiresAt !== 0 && (expiresAt <= now || expiresAt > now + LINK_LIFETIME_SECONDS + LINK_STEP + CLOCK_SKEW_SECONDS)
    )
  }

  /** Expiry of a new link, in seconds since 1970. */
  #newLinkExpiresAt(): number {
    return Math.ceil((this.clock() / 1000 + LINK_LIFETIME_SECONDS) / LINK_STEP) * LINK_STEP
  }

  #sign(path: string, expiresAt: number, revision: number): string {
    const signature = Buffer.alloc(SIGNATURE_BYTES)
    signature.writeUInt32BE(expiresAt, 0)
    signature.writeUInt32BE(revision, 4)
    const mac = hmac(this.keys.current.key, `${path}\n${expiresAt}\n${revision}`)
    mac.copy(signature, SIGNED_PREFIX_BYTES, 0, SIGNATURE_BYTES - SIGNED_PREFIX_BYTES)
    return signature.toString('base64url')
  }

  #evictExpired(): void {
    const { key } = this.keys.current
    const expiresAt = this.#newLinkExpiresAt()
    if (this.#signingKey === key && this.#cacheExpiresAt === expiresAt) return
    this.#cachedLinks.clear()
    this.#signingKey = key
    this.#cacheExpiresAt = expiresAt
  }
}

/** The signature in a query; empty if absent. @throws RequestError malformed if it is repeated or its name is misspelt */
export function parseSignature(search: string): string {
  if (search === '') return ''
  const parameters = parse(search)
  const signature = parameters['signature']
  const faults = findMistypedNames(Object.keys(parameters), ['signature'])
  if (Array.isArray(signature)) {
    faults.push({ message: 'signature must be given only once', pointer: 'signature', code: 'duplicate' })
  }
  if (faults.length > 0) throw new RequestError('malformed', faults)
  return String(signature ?? '')
}
