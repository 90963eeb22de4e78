import { createHash } from 'node:crypto'
import { RequestError } from '../domain/request-error.ts'

const WINDOW_MS = 3_600_000

const SWEEP_INTERVAL_MS = 60_000

type MailRateLimiterOptions = {
  /** Mails per hour to one address, from all accounts; 0 for no limit. */
  readonly perRecipient: number
  /** Mails per hour from one account; 0 for no limit. */
  readonly perAccount: number
  /** Milliseconds; never goes back. A wall clock that jumps ahead must not lock anyone out. */
  readonly monotonic?: () => number
}

/**
 * Limits the mails that this process sends in a sliding hour, so that an account can't be used to flood a mailbox.
 * Recipients are stored as digests, so that memory holds no addresses.
 */
export class MailRateLimiter {
  readonly #sent = new Map<string, number[]>()
  readonly #options: MailRateLimiterOptions
  readonly #monotonic: () => number
  #sweptAt = 0

  constructor(options: MailRateLimiterOptions) {
    this.#options = options
    this.#monotonic = options.monotonic ?? (() => performance.now())
  }

  /**
   * Counts one mail for each recipient, or none if one of them exceeds a limit.
   * @returns a function that undoes the count, for mails that are not sent after all
   * @throws RequestError 'too-many', with the seconds until a retry can succeed
   */
  reserve(account: number, recipients: readonly string[]): () => void {
    const now = this.#monotonic()
    this.#sweep(now)
    const { perRecipient, perAccount } = this.#options
    const names = recipients.map(recipientKey)
    this.#requireCapacity(`account ${account}`, names.length, perAccount, now)
    for (const name of names) this.#requireCapacity(name, 1, perRecipient, now)
    for (const name of names) this.#add(name, now)
    for (const _ of names) this.#add(`account ${account}`, now)
    return () => {
      for (const name of names) for (const key of [name, `account ${account}`]) this.#remove(key, now)
    }
  }

  #requireCapacity(key: string, count: number, limit: number, now: number): void {
    if (limit === 0) return
    const sent = this.#recentlySent(key, now)
    const lastBlockingAt = sent[sent.length + count - limit - 1]
    if (sent.length + count <= limit) return
    const seconds = Math.max(1, Math.ceil(((lastBlockingAt ?? now) + WINDOW_MS - now) / 1000))
    const limitScope = key.startsWith('account ') ? 'by this account' : 'to this recipient'
    throw new RequestError(
      'too-many',
      `At most ${limit} mails an hour are sent ${limitScope}; share the link yourself`,
      seconds,
    )
  }

  #recentlySent(key: string, now: number): readonly number[] {
    return (this.#sent.get(key) ?? []).filter((at) => at > now - WINDOW_MS)
  }

  #add(key: string, now: number): void {
    this.#sent.set(key, [...this.#recentlySent(key, now), now])
  }

  #remove(key: string, at: number): void {
    const sent = [...(this.#sent.get(key) ?? [])]
    const index = sent.indexOf(at)
    if (index >= 0) sent.splice(index, 1)
    this.#sent.set(key, sent)
  }

  #sweep(now: number): void {
    if (now - this.#sweptAt < SWEEP_INTERVAL_MS) return
    this.#sweptAt = now
    for (const key of this.#sent.keys()) if (this.#recentlySent(key, now).length === 0) this.#sent.delete(key)
  }
}

/** Case-insensitive: mail servers deliver both spellings to one mailbox. */
const recipientKey = (address: string) => createHash('sha256').update(address.toLowerCase()).digest('base64')
