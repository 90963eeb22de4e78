import type { Scores } from '../diamond/scores.ts'
import { cutKey, finishOf, type Cut } from './cut/cut.ts'
import { leanFactors } from './cut/lean.ts'
import { spreadOf } from './cut/perturbation.ts'
import type { Stone } from './cut/stone.ts'
import type { TracedCut } from './cut/trace-cut.ts'
import { errorsOf } from './errors.ts'
import { fluorScore } from './fluor.ts'
import { kept } from './light/optics.ts'
import { brillianceScore, fireScore, integralScore, spreadScore, symmetryScore } from './members.ts'
import traced from './traced-cuts.json' with { type: 'json' }

/** A traced cut of its grade's own finish, with another one: its light does not have to be traced again. */
function finished(traced: TracedCut, cut: Cut): TracedCut {
  const { grade, symmetry, polish } = cut
  if (symmetry === finishOf(grade) && polish === finishOf(grade)) return traced
  const times = spreadOf[symmetry] / spreadOf[finishOf(grade)]
  const leaning = (deviation: number | null) => deviation && kept(deviation * times)
  return {
    ...traced,
    crownDeviation: leaning(traced.crownDeviation),
    pavilionDeviation: leaning(traced.pavilionDeviation),
    factors: leanFactors(cut),
  }
}

/** The round of Tolkowsky's proportions that brilliance, fire and spread are measured against, as it was traced. */
export const reference: TracedCut = traced.reference

/** What the tracer finds for each shape and cut grade, by `cutKey`; made by `npm run scores:build`. */
export const table: Readonly<Record<string, TracedCut>> = traced.cuts

/** What the shipped table knows of a cut, whatever its polish and symmetry; undefined for one that has to be traced. */
export function tabled(cut: Cut): TracedCut | undefined {
  const usual = finishOf(cut.grade)
  const found = table[cutKey({ ...cut, polish: usual, symmetry: usual })]
  return found && finished(found, cut)
}

/** A stone's six scores, each null where what it needs is not known. `cut` is its traced cut, null where it has none. */
export function score(stone: Stone, cut: TracedCut | null): Scores {
  const fluor = fluorScore(stone.fluorIntensity, stone.fluorColor)
  if (cut === null) return { integral: null, spread: null, fire: null, brilliance: null, fluor, symmetry: null }
  const errors = errorsOf(stone)
  const brilliance = brillianceScore(cut, stone.shape ?? 'Other', reference, errors.brilliance)
  const symmetry = symmetryScore(cut, errors.symmetry)
  if (stone.carat === undefined) return { integral: null, spread: null, fire: null, brilliance, fluor, symmetry }
  const sized = { carat: stone.carat, ...(stone.face !== undefined && { face: stone.face }) }
  const fire = fireScore(cut, reference, sized, errors.fire)
  const spread = spreadScore(cut, reference, sized, errors.spread)
  return { integral: integralScore(fire, brilliance, errors.integral), spread, fire, brilliance, fluor, symmetry }
}
