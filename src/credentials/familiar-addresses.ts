import { LRUCache } from 'lru-cache'
import { createSecretKey, type KeyObject } from 'node:crypto'
import { deriveKey, type MasterKey, type MasterKeys } from './master-keys.ts'
import { hmac } from './digests.ts'
import { networkOf } from './failed-attempt-limiter.ts'

/** Milliseconds for which an address that an account has logged in from is familiar: 30 days. */
const FAMILIAR_MS = 2_592_000_000
/** So many are remembered; the one that was used longest ago is forgotten first. */
const MAX_MARKS = 100_000
/** Bytes of a mark: too many to meet another account's by chance. */
const MARK_BYTES = 16

/** A log-in as the log tells it. */
type LogInEvent = {
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
  readonly metadata: Readonly<Record<string, string>>
}

/**
 * From where each account has logged in: a fold of the sessions that were opened, by any process. The log holds a mark of
 * account and address together, by a key: it tells nobody where people are, nor who else is there.
 */
export class FamiliarAddresses {
  readonly #keys: readonly KeyObject[]
  /** When each mark was last used, in milliseconds since 1970. */
  readonly #usedAt = new LRUCache<string, number>({ max: MAX_MARKS })

  constructor({ current, old }: MasterKeys) {
    const known = [current, old].filter((key): key is MasterKey => key !== undefined)
    this.#keys = known.map((key) => createSecretKey(deriveKey(key, 'log-in-place')))
  }

  /** What stands in the log for this account's log-in from this address. */
  mark(account: number, address: string): string {
    return this.#marksOf(account, address)[0] ?? ''
  }

  /** Takes note of a session that was opened; every other event is nothing here. */
  note({ type, data, metadata }: LogInEvent): void {
    const mark = data['from']
    if (type !== 'SessionOpened' || typeof mark !== 'string') return
    const at = Date.parse(metadata['at'] ?? '') || 0
    if ((this.#usedAt.get(mark) ?? 0) > at) return
    this.#usedAt.set(mark, at)
  }

  /** Whether the account has logged in from there within 30 days. @param now milliseconds since 1970 */
  isFamiliar(account: number, address: string, now: number): boolean {
    return this.#marksOf(account, address).some((mark) => now - (this.#usedAt.get(mark) ?? -Infinity) < FAMILIAR_MS)
  }

  #marksOf(account: number, address: string): string[] {
    const place = `${account} ${networkOf(address)}`
    return this.#keys.map((key) => hmac(key, place).subarray(0, MARK_BYTES).toString('base64url'))
  }
}
