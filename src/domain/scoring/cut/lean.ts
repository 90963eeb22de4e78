import { grades, type Cut, type Finish, type ModelledShape } from './cut.ts'
import { kept } from '../light/numbers.ts'
import type { LeanFactors, LeanFigure } from './lean-factors.ts'
import made from './lean-factors.json' with { type: 'json' }
import { leanOf } from './perturbation.ts'

/**
 * What facets that lean as each grade of symmetry and polish allows leave of a shape's figures, a factor for each grade, best
 * first; made by `npm run scores:build`.
 */
export const leanTable: Readonly<Record<ModelledShape, Readonly<Record<LeanFigure, readonly number[]>>>> = made

/** What polish and symmetry leave of each figure of a shape: 1 where nothing leans, between two grades in proportion to the lean. */
export function leanFactors({ shape, polish, symmetry }: Finish & Pick<Cut, 'shape'>): LeanFactors {
  const lean = leanOf({ polish, symmetry })
  const of = (figure: LeanFigure) => kept(between(lean, leanTable[shape][figure]))
  return { brilliance: of('brilliance'), fire: of('fire'), faceup: of('faceup'), avg: of('avg') }
}

/** How far facets lean where polish and symmetry have the same grade, best first; none leans further than where both are Poor. */
const leans = grades.map((grade) => leanOf({ symmetry: grade, polish: grade }))

/** @param factors of the six leans of grades */
function between(lean: number, factors: readonly number[]): number {
  const above = leans.findIndex((one) => lean <= one)
  const [from, to] = [leans[above - 1] ?? 0, leans[above] ?? lean]
  const [better, worse] = [factors[above - 1] ?? 1, factors[above] ?? factors.at(-1) ?? 1]
  return better + ((worse - better) * (lean - from)) / (to - from)
}
