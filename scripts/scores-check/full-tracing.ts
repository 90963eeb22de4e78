import { modelledShapes, type Cut, type ModelledShape } from '../../src/optics/cut/cut.ts'
import { unpublishedProportions } from '../../src/optics/cut/proportions.ts'
import { traceCut, traceReference, type TracedCut } from '../../src/optics/cut/trace-cut.ts'
import { roundDecimals } from '../../src/optics/rounding.ts'
import { brillianceScore, fireScore, integralScore } from '../../src/optics/score-formulas.ts'
import { SeededRandom } from '../../test/seeded.ts'
import { generateStone, UNGRADED_RANGE } from '../scores-build/generated-stones.ts'
import { makeCheck, type Check } from './check.ts'
import { quantile, solidOrNull } from './designs.ts'
import { fullTracing } from './plain-tracer/full-tracing.ts'

const STONES = 510
const SEED = 60

const scoreNames = ['brilliance', 'fire', 'integral'] as const
type RelativeScores = Readonly<Record<(typeof scoreNames)[number], number>>
type Difference = RelativeScores & { readonly shape: ModelledShape }

/** Stones by lot, as many of each shape. Impossible ones are left out, and replaced by the next of their shape. */
export function stonesByLot(): Cut[] {
  const random = new SeededRandom(SEED)
  return modelledShapes.flatMap((shape) => {
    const found: Cut[] = []
    while (found.length < STONES / modelledShapes.length) {
      const cut = generateStone(shape, 'Typical', unpublishedProportions[shape].Typical, UNGRADED_RANGE, () =>
        random.next(),
      )
      if (solidOrNull(cut) !== null) found.push(cut)
    }
    return found
  })
}

/** The relative scores of quickly traced stones must be those of full tracing, within the rounding of scores for nine of ten. */
export function fullTracingChecks(): Check[] {
  const [reference, fullReference] = [traceReference(), traceReference(fullTracing)]
  const differences = stonesByLot().map((cut): Difference => {
    const own = relativeScores(traceCut(cut), cut.shape, reference)
    const full = relativeScores(traceCut(cut, fullTracing), cut.shape, fullReference)
    const difference = (name: keyof RelativeScores) => roundDecimals(Math.abs(own[name] - full[name]), 2)
    return {
      shape: cut.shape,
      brilliance: difference('brilliance'),
      fire: difference('fire'),
      integral: difference('integral'),
    }
  })
  return [
    ...modelledShapes.map((shape) =>
      differenceCheck(
        shape,
        differences.filter((difference) => difference.shape === shape),
      ),
    ),
    differenceCheck('all', differences),
  ]
}

/** The relative scores, rounded as in answers. */
function relativeScores(traced: TracedCut, shape: ModelledShape, reference: TracedCut): RelativeScores {
  const brilliance = brillianceScore(traced, shape, reference, 0)
  const fire = fireScore(traced, reference, { carat: 1 }, 0)
  return { brilliance: brilliance.rg, fire: fire.rg, integral: integralScore(fire, brilliance, 0).rg }
}

function differenceCheck(subject: string, differences: readonly Difference[]): Check {
  const figures = scoreNames.map((name) => {
    const values = differences.map((difference) => difference[name])
    const unequal = values.filter((value) => value > 0).length
    return { name, unequal, nineOfTen: quantile(values, 0.9), most: Math.max(...values) }
  })
  return makeCheck(
    `${subject}: rg of ${differences.length} stones`,
    'nine of ten by 0.01, all by 0.02',
    figures.map(({ name, unequal, most }) => `${name} ${unequal} differ, most ${most.toFixed(2)}`).join('; '),
    figures.every(({ nineOfTen, most }) => nineOfTen <= 0.01 && most <= 0.02),
  )
}
