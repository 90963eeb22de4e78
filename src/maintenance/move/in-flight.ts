import { setTimeout as pause } from 'node:timers/promises'
import { logLineage } from '../../events/lineage.ts'
import { isCheckpointOfLog } from '../../projections/engine/checkpoint.ts'
import { MailClaims, type MailClaimOptions } from '../../reactions/mail/mail-claims.ts'
import type { Position } from '../../stores/ports/event-store.ts'
import type { ModelDeclaration } from '../../stores/ports/read-store.ts'
import type { QueuedMail, Vault } from '../../stores/ports/vault.ts'
import { REACTION_CHECKPOINTS } from '../../wiring/followers.ts'
import type { Installation } from '../../wiring/installation.ts'
import type { TargetEventPosition } from '../copy/log.ts'

/** Milliseconds between two looks. */
const POLL_INTERVAL_MS = 100

/** The due mails of a fenced installation, so that none of them leaves it any more. */
export class MailHold {
  readonly #claims: MailClaims

  /** @param claimant the copy: what an earlier run of it has claimed is its own */
  constructor(
    private readonly vault: Vault,
    claimant: string,
    private readonly clock: () => number,
    options: MailClaimOptions = {},
  ) {
    this.#claims = new MailClaims(vault, claimant, options)
  }

  /**
   * Claims every mail that is due, and waits for those that a mailer had claimed before: each of them is sent and put on
   * record, which a fence lets pass, or is given back, or its claim runs out because its process has died.
   * @param waiting told how many are waited for
   */
  async claimAllDue(waiting: (mails: number) => void): Promise<void> {
    for (;;) {
      await this.#claimAvailable()
      let others = 0
      const now = this.clock()
      for await (const item of this.vault.contents()) {
        if (item.kind !== 'mail' || item.dueAt === null || item.dueAt > now) continue
        if (!(await this.#claims.isHeld(`${item.digest}/${item.mail}`))) others++
      }
      if (others === 0) return
      waiting(others)
      await pause(POLL_INTERVAL_MS)
    }
  }

  /** From here on the claims run out by themselves. */
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
 * How far the source's reactions have come, as places in the target's log: what was scored, read or finished at the
 * source is not done once more at the target, whose positions are others.
 */
export class ReactionCheckpoints {
  readonly #checkpoints: { readonly declaration: ModelDeclaration; readonly position: Position }[] = []

  /** @throws StoreUnavailable */
  static async readFrom({ store, reads }: Installation): Promise<ReactionCheckpoints> {
    const found = new ReactionCheckpoints()
    for (const declaration of REACTION_CHECKPOINTS) {
      // Asking for the live build makes one where there is none.
      if ((await (await reads.model(declaration)).position()) === 'start') continue
      const checkpoint = await (await reads.live(declaration)).checkpoint()
      if (checkpoint === undefined || !(await isCheckpointOfLog(store, checkpoint))) continue
      const { position } = checkpoint
      if (position !== 'start') found.#checkpoints.push({ declaration, position })
    }
    return found
  }

  /**
   * Lets the target's reactions begin there.
   * @param at the target's place of the last event that the source has up to one of its own
   */
  async writeTo(
    { store, reads }: Installation,
    at: (source: Position) => Promise<TargetEventPosition | undefined>,
  ): Promise<void> {
    const log = await logLineage(store)
    for (const { declaration, position } of this.#checkpoints) {
      const event = await at(position)
      if (event === undefined) continue
      const build = await reads.live(declaration)
      await build.write([], { position: event.position, log, event })
    }
  }
}
