import { finishOf, type Cut } from './cut.ts'
import { kept } from '../light/numbers.ts'
import { leanFactors } from './lean.ts'
import { spreadOf } from './perturbation.ts'
import type { TracedCut } from './trace-cut.ts'

/** A traced cut of its grade's own finish, with another one: its light does not have to be traced again. */
export function finished(traced: TracedCut, cut: Cut): TracedCut {
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
