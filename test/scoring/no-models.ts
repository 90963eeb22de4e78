import type { ScoringTools } from '../../src/commands/scores/score-diamonds.ts'

/** Traces the bodies of stones that have none of their own. */
export const noModels: ScoringTools['tracedModel'] = () => {
  throw new Error('no stone here has a model')
}
