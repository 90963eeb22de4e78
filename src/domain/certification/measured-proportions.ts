import type { DiamondFields } from '../diamond/fields.ts'
import type { Certification, ReportReading } from './certification.ts'
import { contradictionsOf } from './contradictions.ts'
import { isPlausibleSize, type StoneProportions } from '../diamond/stone-proportions.ts'

/** These four determine most of a diamond's light performance. */
const MAIN_PROPORTIONS = ['table', 'depth', 'crownAngle', 'pavilionAngle'] as const
const MINOR_PROPORTIONS = ['girdle', 'star', 'lower'] as const

type CertifiedDiamond = { readonly certifications: readonly Certification[]; readonly fields: DiamondFields }

/**
 * The proportions from one report: from the one that has most of table, depth and the two angles, of several the newest;
 * undefined if no report has any. Values of different reports are not mixed, since together they might describe no real stone.
 * A report that contradicts its diamond is ignored: it was probably made for another stone.
 *
 * Of several reports with all four it must be the newest: scores computed after an event with such a report must not refer to
 * an earlier event (`stoneRevision`), or the diamond would never be scored again.
 */
export function measuredProportions({ certifications, fields }: CertifiedDiamond): StoneProportions | undefined {
  let best: StoneProportions | undefined
  for (const certification of certifications) {
    const { reading } = certification
    if (reading === null || contradictionsOf(certification, fields).length > 0) continue
    const proportions = proportionsOfReading(reading, fields.carat)
    if (
      Object.keys(proportions).length > 0 &&
      (best === undefined || countMainProportions(proportions) >= countMainProportions(best))
    )
      best = proportions
  }
  return best
}

const countMainProportions = (measured: StoneProportions) =>
  MAIN_PROPORTIONS.filter((name) => measured[name] !== undefined).length

/** What a report says about proportions. A size that does not fit the weight was misread, and is left out. */
export function proportionsOfReading(reading: ReportReading, carat: number): StoneProportions {
  const proportions: { -readonly [Name in keyof StoneProportions]: StoneProportions[Name] } = {}
  for (const name of [...MAIN_PROPORTIONS, ...MINOR_PROPORTIONS]) {
    const value = reading[name]
    if (value !== null) proportions[name] = value
  }
  const size = reading.measurements
  if (size !== null && isPlausibleSize(carat, size)) proportions.size = size
  return proportions
}
