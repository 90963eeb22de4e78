import type { DiamondFields } from '../diamond/fields.ts'
import type { Certification, ReportReading } from './certification.ts'
import { contradictionsOf } from './contradictions.ts'

/** Proportions that a laboratory measured, as far as its report contains them: percent and degrees, `size` in millimetres. */
export type MeasuredProportions = {
  readonly table?: number
  readonly depth?: number
  readonly crownAngle?: number
  readonly pavilionAngle?: number
  readonly girdle?: number
  readonly star?: number
  readonly lower?: number
  readonly size?: MeasuredSize
}

/** Millimetres, as in the report. For rounds the smallest diameter is the width and the largest the length. */
export type MeasuredSize = { readonly length: number; readonly width: number; readonly depth: number }

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
export function measuredProportions({ certifications, fields }: CertifiedDiamond): MeasuredProportions | undefined {
  let best: MeasuredProportions | undefined
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

const countMainProportions = (measured: MeasuredProportions) =>
  MAIN_PROPORTIONS.filter((name) => measured[name] !== undefined).length

function proportionsOfReading(reading: ReportReading, carat: number): MeasuredProportions {
  const proportions: { -readonly [Name in keyof MeasuredProportions]: MeasuredProportions[Name] } = {}
  for (const name of [...MAIN_PROPORTIONS, ...MINOR_PROPORTIONS]) {
    const value = reading[name]
    if (value !== null) proportions[name] = value
  }
  const size = reading.measurements
  if (size !== null && isPlausibleSize(carat, size)) proportions.size = size
  return proportions
}

/**
 * Whether a stone of this weight can have this size. Published weight factors, carats divided by length x width x depth, are
 * .0057 to .0106 (GIA, mounted weights). The limits are half and one and a half times these: enough for unusual cuts, but sizes
 * in inches are rejected.
 */
function isPlausibleSize(carat: number, { length, width, depth }: MeasuredSize): boolean {
  const factor = carat / (length * width * depth)
  return factor > 0.0028 && factor < 0.016
}
