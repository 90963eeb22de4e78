import { FailureDetector } from '../../runtime/failure-detector.ts'
import type { MailClaim, QueuedMail, Vault } from '../../stores/ports/vault.ts'

export type MailClaimOptions = {
  /** Milliseconds without a sign of its holder's life after which a claim has ended. */
  readonly claimTimeoutMs?: number
  /** Milliseconds that never go back. */
  readonly now?: () => number
  /** Told that a sign could not be given; the next one is given all the same. */
  readonly onRenewalError?: (error: unknown, mail: string) => void
}

const CLAIM_TIMEOUT_MS = 15_000
/** Of these milliseconds: so many signs a holder gives in them, and after this part of them it is doubted. */
const RENEWALS_PER_TIMEOUT = 4
const DOUBT_RATIO = 0.5
/** Milliseconds that count between two looks at most. */
const MAX_CHECK_INTERVAL_MS = 1_000

/** A claim of this process: when its last sign was given, and from when on it may be taken again, where it was let go. */
type HeldMailClaim = { readonly renewedAt: number; readonly releasedAt?: number }

/**
 * The mails that this process holds, for whom it gives signs of life until they are done; and those of others, of which it
 * takes over what their holders have left (failure-detector.ts).
 */
export class MailClaims {
  readonly #held = new Map<string, HeldMailClaim>()
  readonly #signs: FailureDetector
  readonly #claimTimeoutMs: number
  readonly #now: () => number
  readonly #renewing: NodeJS.Timeout
  readonly #onRenewalError: (error: unknown, mail: string) => void
  #closed = false
  #taking: Promise<unknown> = Promise.resolve()

  constructor(
    private readonly vault: Vault,
    private readonly claimant: string,
    {
      claimTimeoutMs = CLAIM_TIMEOUT_MS,
      now = () => performance.now(),
      onRenewalError = () => undefined,
    }: MailClaimOptions = {},
  ) {
    this.#claimTimeoutMs = claimTimeoutMs
    this.#now = now
    this.#onRenewalError = onRenewalError
    this.#signs = new FailureDetector(
      {
        suspectedAfterMs: claimTimeoutMs * DOUBT_RATIO,
        deadAfterMs: claimTimeoutMs,
        maxObservationGapMs: MAX_CHECK_INTERVAL_MS,
      },
      now,
    )
    this.#renewing = setInterval(() => void this.#renewAll(), claimTimeoutMs / RENEWALS_PER_TIMEOUT).unref()
  }

  /**
   * One mail that is due and that nobody holds who lives. One at a time, so that none is taken from another lane here.
   * @param time by which it is due, in milliseconds since 1970
   */
  take(time: number): Promise<QueuedMail | undefined> {
    const taken = this.#taking.then(() => this.#take(time))
    // It fails for whoever takes; the next in turn only waits for its end.
    this.#taking = taken.catch(() => undefined)
    return taken
  }

  async #take(time: number): Promise<QueuedMail | undefined> {
    try {
      const mail = await this.vault.claimMail(time, this.claimant, (claim) => this.#hasEnded(claim))
      if (mail !== undefined) this.#held.set(mail.id, { renewedAt: this.#now() })
      return mail
    } catch (error) {
      this.#signs.reset()
      throw error
    }
  }

  /** Whether it is this process's at this moment: sure of it by a sign, unless one was given a moment ago. */
  async isHeld(id: string): Promise<boolean> {
    const held = this.#held.get(id)
    if (held === undefined) return false
    return this.#now() - held.renewedAt < this.#claimTimeoutMs / RENEWALS_PER_TIMEOUT || this.#renew(id)
  }

  /** It has left the queue, or was given back. */
  done(id: string): void {
    this.#held.delete(id)
  }

  /** Something went wrong with it: it is taken again, here as elsewhere, after the time that a claim lasts. */
  release(id: string): void {
    const held = this.#held.get(id)
    if (held !== undefined) this.#held.set(id, { ...held, releasedAt: this.#now() })
  }

  /** From here on there are no more signs: what is still under way is the next process's. */
  close(): void {
    this.#closed = true
    clearInterval(this.#renewing)
  }

  async #hasEnded(claim: MailClaim): Promise<boolean> {
    if (claim.claimant === this.claimant) return this.#hasLetGo(claim.mail)
    const life = this.#signs.observe(claim.mail, `${claim.claimant}/${claim.number}`)
    if (life === 'doubted') {
      await this.vault.probeClaim(claim)
      this.#signs.confirmStoreWritable(claim.mail)
    }
    return life === 'ended'
  }

  #hasLetGo(id: string): boolean {
    const held = this.#held.get(id)
    return (
      held === undefined || (held.releasedAt !== undefined && this.#now() - held.releasedAt >= this.#claimTimeoutMs)
    )
  }

  async #renewAll(): Promise<void> {
    for (const [id, { releasedAt }] of this.#held) {
      if (releasedAt === undefined) await this.#renew(id).catch((error: unknown) => this.#onRenewalError(error, id))
    }
  }

  /** @returns false where it is another's, or gone */
  async #renew(id: string): Promise<boolean> {
    if (this.#closed) return false
    const signAt = this.#now()
    const isMine = await this.vault.renewClaim(id, this.claimant)
    if (isMine && this.#held.has(id)) this.#held.set(id, { renewedAt: signAt })
    return isMine
  }
}
