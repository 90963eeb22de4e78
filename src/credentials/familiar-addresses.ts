import { LRUCache } from 'lru-cache'
import { createSecretKey, type KeyObject } from 'node:crypto'
import { deriveKey, type MasterKey, type MasterKeys } from './master-keys.ts'
import { hmac } from './digests.ts'
import { networkOf } from './failed-attempt-limiter.ts'

/** 30 days. */
const FAMILIAR_MS = 2_592_000_000
/** The least recently used are evicted first. */
const MAX_MARKS = 100_000
/** Bytes; enough to make a collision with another account's mark improbable. */
const MARK_BYTES = 16

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
  /** Milliseconds since 1970, by mark. */
  readonly #usedAt = new LRUCache<string, number>({ max: MAX_MARKS })

  constructor({ current, old }: MasterKeys) {
    const known = [current, old].filter((key): key is MasterKey => key !== undefined)
    this.#keys = known.map((key) => createSecretKey(deriveKey(key, 'log-in-place')))
  }

  mark(account: number, address: string): string {
    return this.#marksOf(account, address)[0] ?? ''
  }

  /** Applies SessionOpened events; ignores all others. */
  note({ type, data, metadata }: LogInEvent): void {
    const mark = data['from']
    if (type !== 'SessionOpened' || typeof mark !== 'string') return
    const at = Date.parse(metadata['at'] ?? '') || 0
    if ((this.#usedAt.get(mark) ?? 0) > at) return
    this.#usedAt.set(mark, at)
  }

  /** Whether the account has logged in from this address within 30 days. @param now milliseconds since 1970 */
  isFamiliar(account: number, address: string, now: number): boolean {
    return this.#marksOf(account, address).some((mark) => now - (this.#usedAt.get(mark) ?? -Infinity) < FAMILIAR_MS)
  }

  #marksOf(account: number, address: string): string[] {
    const place = `${account} ${networkOf(address)}`
    return this.#keys.map((key) => hmac(key, place).subarray(0, MARK_BYTES).toString('base64url'))
  }
}
