import type { Scores } from '../diamond/scores.ts'
import { performance } from './light/face-up.ts'
import { weight, widthOf } from './light/optics.ts'
import { excellentLimit, RANGE_OF_RMS } from './cut/perturbation.ts'
import type { Face } from './cut/stone.ts'
import type { TracedCut } from './cut/trace-cut.ts'
import { OPTICS_VERSION as ver } from './version.ts'

/**
 * Probable errors: finer sampling moves a score by less, and of real stones, which differ from their grade's nominal
 * proportions, half lie nearer. Spread's is in points of pc, symmetry's on its scale of ten.
 */
export const errors = { integral: 0.05, spread: 2.5, fire: 0.1, brilliance: 0.05, symmetry: 0.6 } as const

/** Likewise of a stone that was traced from its own facets: what sampling and a scanner leave open. */
export const ownErrors: Errors = { integral: 0.02, spread: 0.7, fire: 0.03, brilliance: 0.02, symmetry: 0.3 }

/** By how much each score may be off. */
export type Errors = Readonly<Record<keyof typeof errors, number>>

/** The outline of a stone in mm²: of one that was measured from its sides, else of the solid that has its weight. */
function outlineArea(cut: TracedCut, { carat, face }: Sized): number {
  if (face !== undefined) return cut.faceUpArea * ((face.length * face.width) / (cut.length * cut.width))
  return cut.faceUpArea * widthOf(carat, cut.volume) ** 2
}

/** The weight in carats of a reference round that looks as large. */
const roundWeight = (area: number, reference: TracedCut): number =>
  weight(reference.volume, Math.sqrt(area / reference.faceUpArea))

/** A stone's weight, and its sides where they were measured. */
export type Sized = { readonly carat: number; readonly face?: Face }

export function spreadScore(
  cut: TracedCut,
  reference: TracedCut,
  stone: Sized,
  d = errors.spread as number,
): NonNullable<Scores['spread']> {
  const { carat } = stone
  const round = roundWeight(outlineArea(cut, stone), reference)
  return { ct: decimals(round - carat, 2), pc: decimals((100 * (round - carat)) / round, 1), d, ver }
}

/** Free of area: the same for every size, so val is rg. */
export function brillianceScore(
  cut: TracedCut,
  reference: TracedCut,
  d = errors.brilliance as number,
): NonNullable<Scores['brilliance']> {
  const relative = decimals(performance(cut) / performance(reference), 2)
  return {
    val: relative,
    rg: relative,
    d,
    faceup: decimals(cut.brightness / reference.brightness, 2),
    avg: decimals(cut.weighted / reference.weighted, 2),
    ver,
  }
}

/** val grows with the stone: rg times the weight of the round that looks as large. */
export function fireScore(
  cut: TracedCut,
  reference: TracedCut,
  stone: Sized,
  d = errors.fire as number,
): NonNullable<Scores['fire']> {
  const relative = decimals(cut.fire / reference.fire, 2)
  const { ct } = spreadScore(cut, reference, stone)
  return { val: decimals(relative * (stone.carat + ct), 2), rg: relative, d, ver }
}

export function integralScore(
  fire: NonNullable<Scores['fire']>,
  brilliance: NonNullable<Scores['brilliance']>,
  d = errors.integral as number,
): NonNullable<Scores['integral']> {
  const joined = (of: 'val' | 'rg') => decimals(fire[of] ** 0.2 * brilliance[of] ** 0.8, 2)
  return { val: joined('val'), rg: joined('rg'), d, ver }
}

/**
 * Ten for a stone without a flaw, nine where slopes range over all that Excellent allows, zero at ten times that.
 * Limits are ranges from end to end, deviations are rms: hence the factor between. null where nobody knows how the facets
 * should stand.
 */
export function symmetryScore(
  { crownDeviation, pavilionDeviation }: TracedCut,
  d = errors.symmetry as number,
): Scores['symmetry'] {
  if (crownDeviation === null || pavilionDeviation === null) return null
  const scale = (rms: number, limit: number) => Math.max(0, 10 - (rms * RANGE_OF_RMS) / limit)
  const crown = decimals(scale(crownDeviation, excellentLimit.crown), 2)
  const pav = decimals(scale(pavilionDeviation, excellentLimit.pavilion), 2)
  return { val: decimals((pav + crown) / 2, 2), pav, crown, d, ver }
}

/** Rounds half away from zero as the decimal number reads, not as its binary neighbour falls. */
export function decimals(value: number, places: number): number {
  const scale = 10 ** places
  const rounded = Math.round(Math.abs(value) * scale * (1 + Number.EPSILON)) / scale
  return value < 0 && rounded !== 0 ? -rounded : rounded
}
