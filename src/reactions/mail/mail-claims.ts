import { FailureDetector } from '../../runtime/failure-detector.ts'
import type { MailClaim, QueuedMail, Vault } from '../../stores/ports/vault.ts'

export type MailClaimOptions = {
  /** Milliseconds without a renewal by its holder after which a claim expires. */
  readonly claimTimeoutMs?: number
  /** Milliseconds of a clock that never goes back. */
  readonly now?: () => number
  /** Called if a renewal fails; renewals continue. */
  readonly onRenewalError?: (error: unknown, mail: string) => void
}

const CLAIM_TIMEOUT_MS = 15_000
/** Renewals per timeout, and the part of the timeout after which another's claim is suspected to be dead. */
const RENEWALS_PER_TIMEOUT = 4
const SUSPICION_RATIO = 0.5
/** Milliseconds that count between two observations at most. */
const MAX_CHECK_INTERVAL_MS = 1_000

/** A claim of this process: its last renewal, and when it was released after a failure. */
type HeldMailClaim = { readonly renewedAt: number; readonly releasedAt?: number }

/**
 * The mails that this process has claimed, whose claims it renews until they are done. Takes over mails whose claims by
 * other processes have expired (failure-detector.ts).
 */
export class MailClaims {
  readonly #held = new Map<string, HeldMailClaim>()
  readonly #failureDetector: FailureDetector
  readonly #claimTimeoutMs: number
  readonly #now: () => number
  readonly #renewalTimer: NodeJS.Timeout
  readonly #onRenewalError: (error: unknown, mail: string) => void
  #closed = false
  #lastTake: Promise<unknown> = Promise.resolve()

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
    this.#failureDetector = new FailureDetector(
      {
        suspectedAfterMs: claimTimeoutMs * SUSPICION_RATIO,
        deadAfterMs: claimTimeoutMs,
        maxObservationGapMs: MAX_CHECK_INTERVAL_MS,
      },
      now,
    )
    this.#renewalTimer = setInterval(() => void this.#renewAll(), claimTimeoutMs / RENEWALS_PER_TIMEOUT).unref()
  }

  /**
   * Claims one due mail without a live claim. Calls are serialized, so that no mail is taken twice by concurrent rounds
   * of this process.
   * @param time by which it is due, in milliseconds since 1970
   */
  take(time: number): Promise<QueuedMail | undefined> {
    const mail = this.#lastTake.then(() => this.#take(time))
    // The caller gets the rejection; the next call only waits.
    this.#lastTake = mail.catch(() => undefined)
    return mail
  }

  async #take(time: number): Promise<QueuedMail | undefined> {
    try {
      const mail = await this.vault.claimMail(time, this.claimant, (claim) => this.#hasExpired(claim))
      if (mail !== undefined) this.#held.set(mail.id, { renewedAt: this.#now() })
      return mail
    } catch (error) {
      this.#failureDetector.reset()
      throw error
    }
  }

  /** Whether this process still holds the claim; renews it unless that was done a moment ago. */
  async isHeld(id: string): Promise<boolean> {
    const held = this.#held.get(id)
    if (held === undefined) return false
    return this.#now() - held.renewedAt < this.#claimTimeoutMs / RENEWALS_PER_TIMEOUT || this.#renew(id)
  }

  /** The mail has left the queue or was postponed. */
  done(id: string): void {
    this.#held.delete(id)
  }

  /** After a failure: the mail can be claimed again, here or elsewhere, once the claim has expired. */
  release(id: string): void {
    const held = this.#held.get(id)
    if (held !== undefined) this.#held.set(id, { ...held, releasedAt: this.#now() })
  }

  /** Stops all renewals: other processes take over what is still under way. */
  close(): void {
    this.#closed = true
    clearInterval(this.#renewalTimer)
  }

  async #hasExpired(claim: MailClaim): Promise<boolean> {
    if (claim.claimant === this.claimant) return this.#isReleased(claim.mail)
    const liveness = this.#failureDetector.observe(claim.mail, `${claim.claimant}/${claim.number}`)
    if (liveness === 'doubted') {
      await this.vault.probeClaim(claim)
      this.#failureDetector.confirmStoreWritable(claim.mail)
    }
    return liveness === 'ended'
  }

  #isReleased(id: string): boolean {
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

  /** @returns false if another process has the claim, or the mail has left the queue */
  async #renew(id: string): Promise<boolean> {
    if (this.#closed) return false
    const renewedAt = this.#now()
    const isOwnClaim = await this.vault.renewClaim(id, this.claimant)
    if (isOwnClaim && this.#held.has(id)) this.#held.set(id, { renewedAt })
    return isOwnClaim
  }
}
