import { LRUCache } from 'lru-cache'
import { timingSafeEqual, type KeyObject } from 'node:crypto'
import { parse } from 'node:querystring'
import type { LinkKey } from '../../commands/installation/link-key.ts'
import { hmac } from '../../credentials/digests.ts'
import { RequestError } from '../../domain/decider.ts'
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

/** The content of a valid signature. */
export type VerifiedLink = { readonly revision: number; readonly isExpired: boolean }

/** Creates and verifies links with the service's base URL, with or without a signature. */
export class SignedLinks implements LinkBuilder {
  readonly #signed = new LRUCache<string, string>({ max: MAX_CACHED_LINKS })
  /** Key and expiry of the cached links; expiry in seconds since 1970. */
  #signedBy: KeyObject | undefined
  #signedUntil = 0

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

  signed(path: string, lasting: LinkLifetime, revision: number): string {
    this.#evictExpired()
    const name = `${path} ${lasting}${revision}`
    const known = this.#signed.get(name)
    if (known !== undefined) return known
    const expires = lasting === LINK_LIFETIMES.oneDay ? this.#end() : 0
    const link = `${this.baseUrl}${path}?signature=${this.#sign(path, expires, revision)}`
    this.#signed.set(name, link)
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
  verify(path: string, given: string): VerifiedLink | undefined {
    const bytes = Buffer.from(given, 'base64url')
    if (bytes.length !== SIGNATURE_BYTES) return undefined
    const [expires, revision] = [bytes.readUInt32BE(0), bytes.readUInt32BE(4)]
    const wanted = Buffer.from(this.#sign(path, expires, revision))
    const got = Buffer.from(given)
    if (wanted.length !== got.length || !timingSafeEqual(wanted, got)) return undefined
    return { revision, isExpired: this.#hasExpired(expires) }
  }

  /** A 128-bit MAC. The text must start with a word, so that it can never be a path with a signature. */
  mac(text: string): Buffer {
    return hmac(this.keys.current.key, text).subarray(0, SIGNATURE_BYTES - SIGNED_PREFIX_BYTES)
  }

  #hasExpired(expires: number): boolean {
    const now = this.clock() / 1000
    return expires !== 0 && (expires <= now || expires > now + LINK_LIFETIME_SECONDS + LINK_STEP + CLOCK_SKEW_SECONDS)
  }

  /** Expiry of a new link, in seconds since 1970. */
  #end(): number {
    return Math.ceil((this.clock() / 1000 + LINK_LIFETIME_SECONDS) / LINK_STEP) * LINK_STEP
  }

  #sign(path: string, expires: number, revision: number): string {
    const signature = Buffer.alloc(SIGNATURE_BYTES)
    signature.writeUInt32BE(expires, 0)
    signature.writeUInt32BE(revision, 4)
    const signed = hmac(this.keys.current.key, `${path}\n${expires}\n${revision}`)
    signed.copy(signature, SIGNED_PREFIX_BYTES, 0, SIGNATURE_BYTES - SIGNED_PREFIX_BYTES)
    return signature.toString('base64url')
  }

  #evictExpired(): void {
    const { key } = this.keys.current
    const until = this.#end()
    if (this.#signedBy === key && this.#signedUntil === until) return
    this.#signed.clear()
    this.#signedBy = key
    this.#signedUntil = until
  }
}

/** The signature in a query; empty if absent. @throws RequestError malformed if it is repeated or its name is misspelt */
export function parseSignature(search: string): string {
  if (search === '') return ''
  const parameters = parse(search)
  const given = parameters['signature']
  const faults = findMistypedNames(Object.keys(parameters), ['signature'])
  if (Array.isArray(given)) faults.push({ message: 'signature must be given only once', pointer: 'signature' })
  if (faults.length > 0) throw new RequestError('malformed', faults)
  return String(given ?? '')
}
