import type { ModelledShape } from '../../src/optics/cut/cut.ts'
import { scoreStone } from '../../src/optics/score.ts'
import type { TracedCut } from '../../src/optics/cut/trace-cut.ts'

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
