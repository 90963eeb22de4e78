import type { CutGrade, ModelledShape } from '../../src/optics/cut/cut.ts'
import { findTracedCut, referenceCut, scoreStone } from '../../src/optics/score.ts'
import type { TracedCut } from '../../src/optics/cut/trace-cut.ts'
import { defaultCut } from './designs.ts'

/** The relative scores of a traced cut, and the spread for one carat. */
export function relativeScores(
  cut: TracedCut,
  shape: ModelledShape = 'Round',
): Readonly<Record<'brilliance' | 'fire' | 'integral' | 'pc', number>> {
  const { brilliance, fire, integral, spread } = scoreStone({ shape, carat: 1 }, cut)
  return {
    brilliance: brilliance?.rg ?? NaN,
    fire: fire?.rg ?? NaN,
    integral: integral?.rg ?? NaN,
    pc: spread?.pc ?? NaN,
  }
}

/** The relative scores of a stone of which only shape and grade are known. */
export const nominalScores = (shape: ModelledShape, grade: CutGrade): ReturnType<typeof relativeScores> =>
  relativeScores(findTracedCut(defaultCut(shape, grade)) ?? referenceCut, shape)
