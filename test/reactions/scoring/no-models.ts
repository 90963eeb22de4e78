import type { ScoringTools } from '../../../src/commands/scores/score-diamonds.ts'

/** For tests in which no diamond has a 3D model. */
export const noModels: ScoringTools['traceModel'] = () => {
  throw new Error('no stone here has a model')
}
