import type { DiamondFields } from '../diamond/fields.ts'
import type { Certification, ReportReading } from './certification.ts'
import { contradictionsOf } from './contradictions.ts'

/** What a laboratory measured of a stone, as far as its report says: percent, degrees, and millimetres as `size`. */
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

/** Millimetres, as the report has them: of a round the smallest diameter is the width, the largest the length. */
export type MeasuredSize = { readonly length: number; readonly width: number; readonly depth: number }

/** Which decide most of what light does. */
const MAIN = ['table', 'depth', 'crownAngle', 'pavilionAngle'] as const
const FINE = ['girdle', 'star', 'lower'] as const

type CertifiedDiamond = { readonly certifications: readonly Certification[]; readonly fields: DiamondFields }

/**
 * What was measured, of the report that says most of table, depth and the two angles, the newest of several; undefined
 * where none says anything. The figures of two reports are not mixed: they would not add up to one stone. A report that
 * contradicts its stone was measured on another one, as far as anybody can tell.
 *
 * Of reports with all four it must stay the newest: what was scored for an event of such a report must not fall behind an
 * earlier event (`stoneRevision`), or the stone would never be scored again.
 */
export function measuredProportions({ certifications, fields }: CertifiedDiamond): MeasuredProportions | undefined {
  let best: MeasuredProportions | undefined
  for (const certification of certifications) {
    const { reading } = certification
    if (reading === null || contradictionsOf(certification, fields).length > 0) continue
    const said = proportionsOfReading(reading, fields.carat)
    if (Object.keys(said).length > 0 && (best === undefined || mainOf(said) >= mainOf(best))) best = said
  }
  return best
}

const mainOf = (measured: MeasuredProportions) => MAIN.filter((name) => measured[name] !== undefined).length

function proportionsOfReading(reading: ReportReading, carat: number): MeasuredProportions {
  const said: { -readonly [Name in keyof MeasuredProportions]: MeasuredProportions[Name] } = {}
  for (const name of [...MAIN, ...FINE]) {
    const value = reading[name]
    if (value !== null) said[name] = value
  }
  const size = reading.measurements
  if (size !== null && isPlausibleSize(carat, size)) said.size = size
  return said
}

/**
 * Whether a stone of that weight can have that size. Published factors, carats over the product of the three sides, are
 * .0057 to .0106 (GIA, mounted weights); half and once and a half of these leave room for odd cuts, and none for inches.
 */
function isPlausibleSize(carat: number, { length, width, depth }: MeasuredSize): boolean {
  const factor = carat / (length * width * depth)
  return factor > 0.0028 && factor < 0.016
}
