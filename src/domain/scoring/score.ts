import type { Scores } from '../diamond/scores.ts'
import { cutKey, defaultFinishGrade, type Cut } from './cut/cut.ts'
import { leanFactors } from './cut/lean.ts'
import { toleranceFactors } from './cut/perturbation.ts'
import type { Stone } from './cut/stone.ts'
import type { TracedCut } from './cut/trace-cut.ts'
import { errorMarginsOf } from './error-margins.ts'
import { fluorScore } from './fluor.ts'
import { roundToSixDecimals } from './light/optics.ts'
import { brillianceScore, fireScore, integralScore, spreadScore, symmetryScore } from './score-formulas.ts'
import traced from './traced-cuts.json' with { type: 'json' }

/** A traced cut of its grade's own finish, with another one: its light does not have to be traced again. */
function withFinish(traced: TracedCut, cut: Cut): TracedCut {
  const { grade, symmetry, polish } = cut
  if (symmetry === defaultFinishGrade(grade) && polish === defaultFinishGrade(grade)) return traced
  const times = toleranceFactors[symmetry] / toleranceFactors[defaultFinishGrade(grade)]
  const leaning = (deviation: number | null) => deviation && roundToSixDecimals(deviation * times)
  return {
    ...traced,
    crownDeviation: leaning(traced.crownDeviation),
    pavilionDeviation: leaning(traced.pavilionDeviation),
    factors: leanFactors(cut),
  }
}

/** The round of Tolkowsky's proportions that brilliance, fire and spread are measured against, as it was traced. */
export const referenceCut: TracedCut = traced.reference

/** What the tracer finds for each shape and cut grade, by `cutKey`; made by `npm run scores:build`. */
export const tracedCuts: Readonly<Record<string, TracedCut>> = traced.cuts

/** What the shipped table knows of a cut, whatever its polish and symmetry; undefined for one that has to be traced. */
export function findTracedCut(cut: Cut): TracedCut | undefined {
  const usual = defaultFinishGrade(cut.grade)
  const found = tracedCuts[cutKey({ ...cut, polish: usual, symmetry: usual })]
  return found && withFinish(found, cut)
}

/** A stone's six scores, each null where what it needs is not known. `cut` is its traced cut, null where it has none. */
export function scoreStone(stone: Stone, cut: TracedCut | null): Scores {
  const fluor = fluorScore(stone.fluorIntensity, stone.fluorColor)
  if (cut === null) return { integral: null, spread: null, fire: null, brilliance: null, fluor, symmetry: null }
  const errors = errorMarginsOf(stone)
  const brilliance = brillianceScore(cut, stone.shape ?? 'Other', referenceCut, errors.brilliance)
  const symmetry = symmetryScore(cut, errors.symmetry)
  if (stone.carat === undefined) return { integral: null, spread: null, fire: null, brilliance, fluor, symmetry }
  const sized = { carat: stone.carat, ...(stone.face !== undefined && { face: stone.face }) }
  const fire = fireScore(cut, referenceCut, sized, errors.fire)
  const spread = spreadScore(cut, referenceCut, sized, errors.spread)
  return { integral: integralScore(fire, brilliance, errors.integral), spread, fire, brilliance, fluor, symmetry }
}
