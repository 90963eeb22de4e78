import { setTimeout as pause } from 'node:timers/promises'
import { logLineage } from '../../events/lineage.ts'
import { isCheckpointOfLog } from '../../projections/engine/checkpoint.ts'
import { MailClaims, type MailClaimOptions } from '../../reactions/mail/mail-claims.ts'
import type { Position } from '../../stores/ports/event-store.ts'
import type { ModelDeclaration } from '../../stores/ports/read-store.ts'
import type { QueuedMail, Vault } from '../../stores/ports/vault.ts'
import { REACTION_CHECKPOINTS } from '../../wiring/consumers.ts'
import type { Installation } from '../../wiring/installation.ts'
import type { TargetEventPosition } from '../copy/log.ts'

const POLL_INTERVAL_MS = 100

/** Claims the due mails of a fenced installation, so that it does not send them any more. */
export class MailHold {
  readonly #claims: MailClaims

  /** @param claimant id of the copy: a resumed run owns the claims of the interrupted one */
  constructor(
    private readonly vault: Vault,
    claimant: string,
    private readonly clock: () => number,
    options: MailClaimOptions = {},
  ) {
    this.#claims = new MailClaims(vault, claimant, options)
  }

  /**
   * Claims every due mail, and waits for those that a mailer has claimed before: a mailer sends the mail and records it, which a
   * fence permits, or releases its claim, or dies, so that the claim expires.
   * @param onWaiting called with the number of mails that are waited for
   */
  async claimAllDue(onWaiting: (mails: number) => void): Promise<void> {
    for (;;) {
      await this.#claimAvailable()
      let foreignClaimCount = 0
      const now = this.clock()
      for await (const item of this.vault.contents()) {
        if (item.kind !== 'mail' || item.dueAt === null || item.dueAt > now) continue
        if (!(await this.#claims.isHeld(`${item.digest}/${item.mail}`))) foreignClaimCount++
      }
      if (foreignClaimCount === 0) return
      onWaiting(foreignClaimCount)
      await pause(POLL_INTERVAL_MS)
    }
  }

  /** Stops renewing the claims; they expire. */
  close(): void {
    this.#claims.close()
  }

  async #claimAvailable(): Promise<void> {
    let mail: QueuedMail | undefined
    do mail = await this.#claims.take(this.clock())
    while (mail !== undefined)
  }
}

/**
 * Transfers the checkpoints of the source's reactions to the target, whose log has other positions, so that the target does not
 * process again what the source has processed.
 */
export class ReactionCheckpoints {
  readonly #checkpoints: { readonly declaration: ModelDeclaration; readonly position: Position }[] = []

  /** @throws StoreUnavailable */
  static async readFrom({ store, reads }: Installation): Promise<ReactionCheckpoints> {
    const checkpoints = new ReactionCheckpoints()
    for (const declaration of REACTION_CHECKPOINTS) {
      // `live()` creates a missing build.
      if ((await (await reads.model(declaration)).position()) === 'start') continue
      const checkpoint = await (await reads.live(declaration)).checkpoint()
      if (checkpoint === undefined || !(await isCheckpointOfLog(store, checkpoint))) continue
      const { position } = checkpoint
      if (position !== 'start') checkpoints.#checkpoints.push({ declaration, position })
    }
    return checkpoints
  }

  /**
   * Writes the checkpoints, from which the target's reactions then start.
   * @param findTarget finds the target's copy of the last event up to a position of the source
   */
  async writeTo(
    { store, reads }: Installation,
    findTarget: (source: Position) => Promise<TargetEventPosition | undefined>,
  ): Promise<void> {
    const log = await logLineage(store)
    for (const { declaration, position } of this.#checkpoints) {
      const event = await findTarget(position)
      if (event === undefined) continue
      const build = await reads.live(declaration)
      await build.write([], { position: event.position, log, event })
    }
  }
}
