import type { Stone } from './cut/stone.ts'

/**
 * By how much each score may be off: of stones of which no more is known, half lie nearer (`npm run scores:check`). Spread's is in points
 * of pc, symmetry's on its scale of ten.
 */
export type Errors = Readonly<Record<'integral' | 'spread' | 'fire' | 'brilliance' | 'symmetry', number>>

/** Of a stone of which the grade is known: others of that grade have other proportions. */
const typical: Errors = { integral: 0.08, spread: 2.5, fire: 0.1, brilliance: 0.09, symmetry: 0.6 }

/** Of a stone of which a laboratory measured table, crown and pavilion: stars, lower halves and what figures are rounded to stay open. */
const measured: Errors = { integral: 0.04, spread: 2.5, fire: 0.05, brilliance: 0.05, symmetry: 0.6 }

/** Of a stone that was traced from its own facets: what sampling and a scanner leave open. */
const own: Errors = { integral: 0.02, spread: 0.7, fire: 0.03, brilliance: 0.02, symmetry: 0.3 }

/** Spread from measured millimetres: a hundredth of one, and the outline between its length and width. */
const SPREAD_FROM_SIDES = 0.7

/** What is known of a stone says how far to trust its scores. */
export function errorsOf(stone: Pick<Stone, 'measured' | 'face' | 'ownFacets'>): Errors {
  if (stone.ownFacets === true) return own
  const known = hasAngles(stone) ? measured : typical
  return stone.face === undefined ? known : { ...known, spread: SPREAD_FROM_SIDES }
}

const hasAngles = ({ measured: of }: Pick<Stone, 'measured'>): boolean =>
  of?.tablePct !== undefined && of.crownAngle !== undefined && of.pavilionAngle !== undefined
