import { roundToSixDecimals } from '../light/optics.ts'
import { grades, type Cut, type Finish, type ModelledShape } from './cut.ts'
import made from './lean-factors.json' with { type: 'json' }
import { leanOf } from './perturbation.ts'

/**
 * What leaning facets leave of a well-made stone's figures, as parts of them: at most 1, and the less the further they lean. Averages over
 * many stones and many ways to lean (lean.ts): what one way does to one stone says nothing of the next.
 */
export type LeanFactors = Readonly<Record<LeanFigure, number>>
export type LeanFigure = 'brilliance' | 'fire' | 'faceup' | 'avg'

/** Of a stone whose facets were traced as they lean, or do not. */
export const noLeanLoss: LeanFactors = { brilliance: 1, fire: 1, faceup: 1, avg: 1 }

/**
 * What facets that lean as each grade of symmetry and polish allows leave of a shape's figures, a factor for each grade, best
 * first; made by `npm run scores:build`.
 */
export const leanTable: Readonly<Record<ModelledShape, Readonly<Record<LeanFigure, readonly number[]>>>> = made

/** What polish and symmetry leave of each figure of a shape: 1 where nothing leans, between two grades in proportion to the lean. */
export function leanFactors({ shape, polish, symmetry }: Finish & Pick<Cut, 'shape'>): LeanFactors {
  const lean = leanOf({ polish, symmetry })
  const of = (figure: LeanFigure) => roundToSixDecimals(between(lean, leanTable[shape][figure]))
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
