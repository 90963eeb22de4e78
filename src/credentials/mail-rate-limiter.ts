import { createHash } from 'node:crypto'
import { RequestError } from '../domain/decider.ts'

const WINDOW_MS = 3_600_000

const SWEEP_INTERVAL_MS = 60_000

export type MailRateLimiterOptions = {
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
      for (const name of names) for (const who of [name, `account ${account}`]) this.#take(who, now)
    }
  }

  #requireCapacity(who: string, more: number, limit: number, now: number): void {
    if (limit === 0) return
    const sent = this.#live(who, now)
    const freeing = sent[sent.length + more - limit - 1]
    if (sent.length + more <= limit) return
    const seconds = Math.max(1, Math.ceil(((freeing ?? now) + WINDOW_MS - now) / 1000))
    const whom = who.startsWith('account ') ? 'by this account' : 'to this recipient'
    throw new RequestError(
      'too-many',
      `At most ${limit} mails an hour are sent ${whom}; share the link yourself`,
      seconds,
    )
  }

  #live(who: string, now: number): readonly number[] {
    return (this.#sent.get(who) ?? []).filter((at) => at > now - WINDOW_MS)
  }

  #add(who: string, now: number): void {
    this.#sent.set(who, [...this.#live(who, now), now])
  }

  #take(who: string, at: number): void {
    const sent = [...(this.#sent.get(who) ?? [])]
    const found = sent.indexOf(at)
    if (found >= 0) sent.splice(found, 1)
    this.#sent.set(who, sent)
  }

  #sweep(now: number): void {
    if (now - this.#sweptAt < SWEEP_INTERVAL_MS) return
    this.#sweptAt = now
    for (const who of this.#sent.keys()) if (this.#live(who, now).length === 0) this.#sent.delete(who)
  }
}

/** Case-insensitive: mail servers deliver both spellings to one mailbox. */
const recipientKey = (address: string) => createHash('sha256').update(address.toLowerCase()).digest('base64')
