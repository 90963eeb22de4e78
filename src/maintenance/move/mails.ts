import { setTimeout as pause } from 'node:timers/promises'
import { MailClaims, type ClaimOptions } from '../../reactions/mail/mail-claims.ts'
import type { QueuedMail, Vault } from '../../stores/ports/vault.ts'

/** Milliseconds between two looks. */
const LOOK = 100

/** The due mails of a fenced installation, so that none of them leaves it any more. */
export class HeldMails {
  readonly #claims: MailClaims

  /** @param claimant the copy: what an earlier run of it has claimed is its own */
  constructor(
    private readonly vault: Vault,
    claimant: string,
    private readonly clock: () => number,
    options: ClaimOptions = {},
  ) {
    this.#claims = new MailClaims(vault, claimant, options)
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
        if (!(await this.#claims.isHeld(`${item.digest}/${item.mail}`))) others++
      }
      if (others === 0) return
      waiting(others)
      await pause(LOOK)
    }
  }

  /** From here on the claims run out by themselves. */
  close(): void {
    this.#claims.close()
  }

  async #claimAll(): Promise<void> {
    let mail: QueuedMail | undefined
    do mail = await this.#claims.take(this.clock())
    while (mail !== undefined)
  }
}
