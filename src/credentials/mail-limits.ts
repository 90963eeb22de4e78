import { createHash } from 'node:crypto'
import { Refusal } from '../domain/decider.ts'

/** Milliseconds in which mails are counted. */
const WINDOW = 3_600_000

/** Between two sweeps of who has sent or got nothing in the window. */
const SWEEP = 60_000

export type MailLimitsOptions = {
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
export class MailLimits {
  readonly #sent = new Map<string, number[]>()
  readonly #options: MailLimitsOptions
  readonly #monotonic: () => number
  #sweptAt = 0

  constructor(options: MailLimitsOptions) {
    this.#options = options
    this.#monotonic = options.monotonic ?? (() => performance.now())
  }

  /**
   * Counts one mail to each of these addresses, or none where one of them is too many.
   * @returns takes them back, where they are not sent after all
   * @throws Refusal too-many, with the seconds until it is worth trying again
   */
  count(account: number, recipients: readonly string[]): () => void {
    const now = this.#monotonic()
    this.#sweep(now)
    const { perRecipient, perAccount } = this.#options
    const names = recipients.map(nameOf)
    this.#mustFit(`account ${account}`, names.length, perAccount, now)
    for (const name of names) this.#mustFit(name, 1, perRecipient, now)
    for (const name of names) this.#add(name, now)
    for (const _ of names) this.#add(`account ${account}`, now)
    return () => {
      for (const name of names) for (const who of [name, `account ${account}`]) this.#take(who, now)
    }
  }

  #mustFit(who: string, more: number, limit: number, now: number): void {
    if (limit === 0) return
    const sent = this.#live(who, now)
    const freeing = sent[sent.length + more - limit - 1]
    if (sent.length + more <= limit) return
    const seconds = Math.max(1, Math.ceil(((freeing ?? now) + WINDOW - now) / 1000))
    const whom = who.startsWith('account ') ? 'by this account' : 'to this recipient'
    throw new Refusal('too-many', `At most ${limit} mails an hour are sent ${whom}; share the link yourself`, seconds)
  }

  #live(who: string, now: number): readonly number[] {
    return (this.#sent.get(who) ?? []).filter((at) => at > now - WINDOW)
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
    if (now - this.#sweptAt < SWEEP) return
    this.#sweptAt = now
    for (const who of this.#sent.keys()) if (this.#live(who, now).length === 0) this.#sent.delete(who)
  }
}

/** Without regard to case: servers deliver both to one mailbox. */
const nameOf = (address: string) => createHash('sha256').update(address.toLowerCase()).digest('base64')
