import { createHash } from 'node:crypto'
import { RequestError } from '../domain/decider.ts'

/** Milliseconds in which mails are counted. */
const WINDOW_MS = 3_600_000

/** Between two sweeps of who has sent or got nothing in the window. */
const SWEEP_INTERVAL_MS = 60_000

export type MailRateLimiterOptions = {
  /** Mails to one address in an hour, whoever sends them; 0 for no limit. */
  readonly perRecipient: number
  /** Mails of one account in an hour; 0 for no limit. */
  readonly perAccount: number
  /** Milliseconds that only ever go on: a wall clock that jumps ahead must not lock anybody. */
  readonly monotonic?: () => number
}

/**
 * Counts mails of this process in a sliding hour, so that nobody's mailbox is flooded with links through somebody's account.
 * Recipients are remembered by a digest: an address is nobody's to find in memory.
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
   * Counts one mail to each of these addresses, or none where one of them is too many.
   * @returns takes them back, where they are not sent after all
   * @throws Refusal too-many, with the seconds until it is worth trying again
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

/** Without regard to case: servers deliver both to one mailbox. */
const recipientKey = (address: string) => createHash('sha256').update(address.toLowerCase()).digest('base64')
