import { LRUCache } from 'lru-cache'
import { createSecretKey, type KeyObject } from 'node:crypto'
import { deriveKey, type MasterKey, type MasterKeys } from './master-keys.ts'
import { hmac } from './digests.ts'
import { networkOf } from './failed-attempt-limiter.ts'

/** 30 days. */
const FAMILIAR_MS = 2_592_000_000
/** The least recently used are evicted first. */
const MAX_FINGERPRINTS = 100_000
/** Bytes; enough to make a collision with another account's fingerprint improbable. */
const FINGERPRINT_BYTES = 16

type LogInEvent = {
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
  readonly metadata: Readonly<Record<string, string>>
}

/**
 * The addresses that each account has logged in from, folded from the SessionOpened events of all processes. An event
 * holds only an HMAC of account and address, so the log reveals neither addresses nor which accounts share one.
 */
export class FamiliarAddresses {
  readonly #keys: readonly KeyObject[]
  /** Milliseconds since 1970, by fingerprint. */
  readonly #usedAt = new LRUCache<string, number>({ max: MAX_FINGERPRINTS })

  constructor({ current, old }: MasterKeys) {
    const masterKeys = [current, old].filter((key): key is MasterKey => key !== undefined)
    this.#keys = masterKeys.map((key) => createSecretKey(deriveKey(key, 'log-in-place')))
  }

  fingerprint(account: number, address: string): string {
    return this.#fingerprintsOf(account, address)[0] ?? ''
  }

  /** Applies SessionOpened events; ignores all others. */
  note({ type, data, metadata }: LogInEvent): void {
    const fingerprint = data['from']
    if (type !== 'SessionOpened' || typeof fingerprint !== 'string') return
    const at = Date.parse(metadata['at'] ?? '') || 0
    if ((this.#usedAt.get(fingerprint) ?? 0) > at) return
    this.#usedAt.set(fingerprint, at)
  }

  /** Whether the account has logged in from this address within 30 days. @param now milliseconds since 1970 */
  isFamiliar(account: number, address: string, now: number): boolean {
    return this.#fingerprintsOf(account, address).some(
      (fingerprint) => now - (this.#usedAt.get(fingerprint) ?? -Infinity) < FAMILIAR_MS,
    )
  }

  #fingerprintsOf(account: number, address: string): string[] {
    const accountAndNetwork = `${account} ${networkOf(address)}`
    return this.#keys.map((key) => hmac(key, accountAndNetwork).subarray(0, FINGERPRINT_BYTES).toString('base64url'))
  }
}
