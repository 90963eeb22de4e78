import { LRUCache } from 'lru-cache'
import { timingSafeEqual, type KeyObject } from 'node:crypto'
import { parse } from 'node:querystring'
import type { LinkKey } from '../../commands/installation/link-key.ts'
import { hmac } from '../../credentials/digests.ts'
import { RequestError } from '../../domain/decider.ts'
import { findMistypedNames } from './parameters/query.ts'
import { LINK_LIFETIMES, type LinkLifetime, type LinkBuilder } from '../../representations/json.ts'

/** Signed links kept at most: a list page shows the same stones again and again, and an HMAC costs 3 us. */
const MAX_CACHED_LINKS = 20_000

/** Seconds that a link which ends opens at least. */
const LINK_LIFETIME_SECONDS = 86_400
/** Links made within so many seconds end together, so that each is signed once for all of them. */
export const LINK_STEP = 300
/** Seconds by which instances' clocks may differ. One that says more has been wrong: what it signed ends now. */
const CLOCK_SKEW_SECONDS = 600

/** Milliseconds in which every process has noticed that another key signs links now. */
const KEY_ROTATION_DELAY_MS = 10_000

/** Bytes of a signature: when it ends (seconds since 1970, 0 for never), the revision it is for, and 128 bits of HMAC. */
const SIGNED_PREFIX_BYTES = 8
const SIGNATURE_BYTES = SIGNED_PREFIX_BYTES + 16

/** What a signature that is right says. */
export type VerifiedLink = { readonly revision: number; readonly isExpired: boolean }

/** Links with the service's address, signed where a signature opens them. */
export class SignedLinks implements LinkBuilder {
  readonly #signed = new LRUCache<string, string>({ max: MAX_CACHED_LINKS })
  /** What they were signed for: the key, and the time at which they end. */
  #signedBy: KeyObject | undefined
  #signedUntil = 0

  /**
   * @param address where links start, such as https://api.example.com
   * @param keys tells the key of now
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
   * Whether the signed links in every copy of a body still open: nobody has a copy from before the key of now, or one that
   * is a day old. Only then may a caller be told that its copy is still good.
   * @param lifetimes of the signed links in it
   * @param changedAt milliseconds since 1970: no copy is older
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

  /** What a signature says that was made here for a path; undefined for any other. In constant time. */
  verify(path: string, given: string): VerifiedLink | undefined {
    const bytes = Buffer.from(given, 'base64url')
    if (bytes.length !== SIGNATURE_BYTES) return undefined
    const [expires, revision] = [bytes.readUInt32BE(0), bytes.readUInt32BE(4)]
    const wanted = Buffer.from(this.#sign(path, expires, revision))
    const got = Buffer.from(given)
    if (wanted.length !== got.length || !timingSafeEqual(wanted, got)) return undefined
    return { revision, isExpired: this.#hasExpired(expires) }
  }

  /** 128 bits that only this service can make, over a text that begins with a word: no path does. */
  mac(text: string): Buffer {
    return hmac(this.keys.current.key, text).subarray(0, SIGNATURE_BYTES - SIGNED_PREFIX_BYTES)
  }

  #hasExpired(expires: number): boolean {
    const now = this.clock() / 1000
    return expires !== 0 && (expires <= now || expires > now + LINK_LIFETIME_SECONDS + LINK_STEP + CLOCK_SKEW_SECONDS)
  }

  /** Seconds since 1970, at least a day from now. */
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

/** The signature in a query; empty without one. @throws Refusal malformed where it stands twice, or is mistyped */
export function parseSignature(search: string): string {
  if (search === '') return ''
  const parameters = parse(search)
  const given = parameters['signature']
  const faults = findMistypedNames(Object.keys(parameters), ['signature'])
  if (Array.isArray(given)) faults.push({ message: 'signature must stand once, got it twice', pointer: 'signature' })
  if (faults.length > 0) throw new RequestError('malformed', faults)
  return String(given ?? '')
}
