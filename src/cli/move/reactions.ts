import type { Installation } from '../../installation.ts'
import { belongs } from '../../projections/belongs.ts'
import { REACTIONS } from '../../projections/declarations.ts'
import { lineOf } from '../../projections/log-line.ts'
import { checkpointOf } from '../../projections/reaction.ts'
import { comparePositions, type From } from '../../stores/event-store.ts'
import type { Checkpoint } from '../../stores/read-store.ts'
import type { Pair } from './walk.ts'

/**
 * How far the source's reactions have come, as places in the target's log: what was scored, read or finished at the
 * source is not done once more at the target, whose positions are others.
 */
export class ReactionsBehind {
  readonly #behind: { readonly name: string; readonly position: From; found: Checkpoint['event'] }[] = []

  /** @throws StoreUnavailable */
  static async of({ store, reads }: Installation): Promise<ReactionsBehind> {
    const reactions = new ReactionsBehind()
    for (const name of REACTIONS) {
      const declaration = checkpointOf(name)
      // Asking for the live build makes one where there is none.
      if ((await (await reads.model(declaration)).position()) === 'start') continue
      const checkpoint = await (await reads.live(declaration)).checkpoint()
      if (checkpoint === undefined || !(await belongs(store, checkpoint))) continue
      reactions.#behind.push({ name, position: checkpoint.position, found: null })
    }
    return reactions
  }

  /** To be told of every event. */
  readonly pair: Pair = (source, { id, position }) => {
    for (const one of this.#behind)
      if (comparePositions(source.position, one.position) <= 0) one.found = { id, position }
  }

  /** Lets the target's reactions begin there. */
  async keep({ store, reads }: Installation): Promise<void> {
    const log = await lineOf(store)
    for (const { name, found } of this.#behind) {
      if (found === null) continue
      const build = await reads.live(checkpointOf(name))
      await build.write([], { position: found.position, log, event: found })
    }
  }
}
