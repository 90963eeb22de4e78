import type { Origin } from '../commands/origin.ts'
import { scoreDiamonds, type DueStone, type ScoringTools } from '../commands/score-diamonds.ts'
import { diamondStream } from '../domain/diamond/streams.ts'
import type { Log } from '../log.ts'
import { foldOrPass } from './scoring.ts'

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
    const state = foldOrPass(tools, await tools.store.read(diamondStream(id)))
    if (state?.diamond.status !== 'live') continue
    due.push({ diamond: state.diamond, inputsRevision: state.inputsRevision, origin, isNew: false })
  }
  return scoreDiamonds(tools, due)
}
