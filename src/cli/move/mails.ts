import { setTimeout as pause } from 'node:timers/promises'
import type { Vault } from '../../stores/vault.ts'

/** Milliseconds that a claim lasts, and between two looks. */
const CLAIM = 30_000
const LOOK = 100

/** The due mails of a fenced installation, so that none of them leaves it any more. */
export class HeldMails {
  readonly #held = new Set<string>()
  readonly #renewing: NodeJS.Timeout

  /** @param claimant the copy: what an earlier run of it has claimed is its own */
  constructor(
    private readonly vault: Vault,
    private readonly claimant: string,
    private readonly clock: () => number,
  ) {
    this.#renewing = setInterval(() => void this.#renew(), CLAIM / 3).unref()
  }

  /**
   * Claims every mail that is due, and waits for those that a mailer had claimed before: each of them is sent and put on
   * record, which a fence lets pass, or is given back, or its claim runs out because its process has died.
   * @param waiting told how many are waited for
   */
  async hold(waiting: (mails: number) => void): Promise<void> {
    for (;;) {
      await this.#claimAll()
      let others = 0
      const now = this.clock()
      for await (const item of this.vault.contents()) {
        if (item.kind !== 'mail' || item.dueAt === null || item.dueAt > now) continue
        if (!(await this.#isHeld(`${item.digest}/${item.mail}`))) others++
      }
      if (others === 0) return
      waiting(others)
      await pause(LOOK)
    }
  }

  /** From here on the claims run out by themselves. */
  close(): void {
    clearInterval(this.#renewing)
  }

  async #claimAll(): Promise<void> {
    for (;;) {
      const now = this.clock()
      const mail = await this.vault.claimMail(now, this.claimant, now + CLAIM)
      if (mail === undefined) return
      this.#held.add(mail.id)
    }
  }

  async #isHeld(id: string): Promise<boolean> {
    if (!this.#held.has(id) && (await this.#renewClaim(id))) this.#held.add(id)
    return this.#held.has(id)
  }

  async #renew(): Promise<void> {
    for (const id of this.#held) await this.#renewClaim(id).catch(() => false)
  }

  #renewClaim(id: string): Promise<boolean> {
    return this.vault.renewClaim(id, this.claimant, this.clock() + CLAIM)
  }
}
