import { LRUCache } from 'lru-cache'
import { networkOf } from '../../credentials/guess-limits.ts'
import { Refusal } from '../../domain/refusal.ts'

/** Milliseconds of a window. */
const WINDOW = 600_000
/** So many accounts and addresses are counted; the oldest window is forgotten first. */
const REMEMBERED = 100_000

/** The original's oldest words for it, which clients match on. */
const MESSAGE = 'Apologies dear citizen! You have been rate limited.'

type Window = { readonly until: number; count: number }

/** Counts requests in windows of 10 minutes, in this process. */
export class RateLimit {
  readonly #windows = new LRUCache<string, Window>({ max: REMEMBERED })

  /**
   * @param limit requests in a window; 0 for no limit
   * @param clock milliseconds that never go back, nor ahead with a clock that is wrong for a minute
   */
  constructor(
    private readonly limit: number,
    private readonly clock: () => number,
  ) {}

  /** @throws Refusal too-many */
  count(who: string): void {
    if (this.limit === 0) return
    const now = this.clock()
    const window = this.#windowOf(who, now)
    if (++window.count <= this.limit) return
    throw new Refusal('too-many', MESSAGE, Math.max(1, Math.ceil((window.until - now) / 1000)))
  }

  #windowOf(who: string, now: number): Window {
    const known = this.#windows.get(who)
    if (known !== undefined && now < known.until) return known
    const window = { until: now + WINDOW, count: 0 }
    this.#windows.set(who, window)
    return window
  }
}

/** @throws Refusal too-many */
export const countAddress = (limit: RateLimit, address: string): void => limit.count(`address ${networkOf(address)}`)

/** Beside its address. @throws Refusal too-many */
export const countAccount = (limit: RateLimit, account: number): void => limit.count(`account ${account}`)
