import type { Origin } from '../../events/origin.ts'
import { scoreDiamonds, type DueStone, type ScoringTools } from '../../commands/scores/score-diamonds.ts'
import { diamondStream } from '../../domain/diamond/diamond.ts'
import type { Log } from '../../runtime/log.ts'
import { folded } from './scoring.ts'

/**
 * Scores living diamonds by this model, as they are now; those that it has scored already are left as they are, so that
 * whatever was interrupted can be done again. Their older scores stay in the history.
 * @returns how many have scores of this model now, by this call or by another process's
 * @throws what the store says, and what tracing rejects with
 */
export async function rescore(
  tools: ScoringTools & { readonly log: Log },
  diamonds: readonly number[],
  origin: Origin,
): Promise<number> {
  const due: DueStone[] = []
  for (const id of diamonds) {
    const state = folded(await tools.store.read(diamondStream(id)))
    if ('error' in state) tools.log.warn({ err: state.error, diamond: id }, 'a diamond is not understood, nor scored')
    if ('error' in state || state.diamond.status !== 'live') continue
    due.push({ diamond: state.diamond, stoneRevision: state.stoneRevision, origin, isNew: false })
  }
  const { count, unscored } = await scoreDiamonds(tools, due)
  for (const { diamond, error } of unscored) tools.log.warn({ err: error, diamond }, 'a diamond can not be scored')
  return count
}
