import { logLineage } from '../../events/lineage.ts'
import type { Installation } from '../../wiring/installation.ts'
import { isOfLog } from '../../projections/engine/checkpoint.ts'
import { REACTION_CHECKPOINTS } from '../../wiring/followers.ts'
import type { Position } from '../../stores/ports/event-store.ts'
import type { ModelDeclaration } from '../../stores/ports/read-store.ts'
import type { Place } from './same-places.ts'

/**
 * How far the source's reactions have come, as places in the target's log: what was scored, read or finished at the
 * source is not done once more at the target, whose positions are others.
 */
export class ReactionsBehind {
  readonly #behind: { readonly declaration: ModelDeclaration; readonly position: Position }[] = []

  /** @throws StoreUnavailable */
  static async of({ store, reads }: Installation): Promise<ReactionsBehind> {
    const reactions = new ReactionsBehind()
    for (const declaration of REACTION_CHECKPOINTS) {
      // Asking for the live build makes one where there is none.
      if ((await (await reads.model(declaration)).position()) === 'start') continue
      const checkpoint = await (await reads.live(declaration)).checkpoint()
      if (checkpoint === undefined || !(await isOfLog(store, checkpoint))) continue
      const { position } = checkpoint
      if (position !== 'start') reactions.#behind.push({ declaration, position })
    }
    return reactions
  }

  /**
   * Lets the target's reactions begin there.
   * @param at the target's place of the last event that the source has up to one of its own
   */
  async keep({ store, reads }: Installation, at: (source: Position) => Promise<Place | undefined>): Promise<void> {
    const log = await logLineage(store)
    for (const { declaration, position } of this.#behind) {
      const event = await at(position)
      if (event === undefined) continue
      const build = await reads.live(declaration)
      await build.write([], { position: event.position, log, event })
    }
  }
}
