import type { ScoringTools } from '../../../src/commands/scores/score-diamonds.ts'
import type { Cut } from '../../../src/optics/cut/cut.ts'
import { findTracedCut, referenceCut } from '../../../src/optics/score.ts'
import type { TracedCut } from '../../../src/optics/cut/trace-cut.ts'

const shippedCut = (cut: Cut): TracedCut | null => findTracedCut(cut) ?? referenceCut

/** Scoring tools for diamonds without 3D models. @param find finds a cut; undefined: `trace` is called, and fails by default */
export const tracingTools = (
  find: (cut: Cut) => TracedCut | null | undefined = shippedCut,
  trace: (cut: Cut) => Promise<TracedCut | null> = async () => Promise.reject(new Error('no cut is traced here')),
): Pick<ScoringTools, 'cuts' | 'models'> => {
  const noModel = () => {
    throw new Error('no stone here has a model')
  }
  return { cuts: { find, trace }, models: { find: noModel, trace: noModel } }
}
