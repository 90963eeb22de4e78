import type { Proportions } from './proportions.ts'
import { radians } from '../solid/vector.ts'

/** A round brilliant as reports and tables describe it: percent of the diameter, angles in degrees. */
export type RoundMeasures = {
  readonly table: number
  readonly crown: number
  readonly pavilion: number
  readonly star: number
  readonly lower: number
  readonly girdle: number
  readonly culet: number
}

/** 1.00 ct of this round brilliant scores 1. It weighs 3.67 thousandths of its diameter cubed (ct, mm). */
const referenceMeasures: RoundMeasures = {
  table: 56,
  crown: 34,
  pavilion: 40.5,
  star: 50,
  lower: 75,
  girdle: 3,
  culet: 0.5,
}

/** The proportions of a round brilliant that is like the reference but for the measures given. */
export function roundProportions(measures: Partial<RoundMeasures>): Proportions {
  const { table, crown, pavilion, star, lower, girdle, culet } = { ...referenceMeasures, ...measures }
  return {
    lengthToWidth: 1,
    table: table / 100,
    crownHeight: ((1 - table / 100) / 2) * Math.tan(radians(crown)),
    pavilionDepth: Math.tan(radians(pavilion)) / 2,
    girdle: girdle / 100,
    star: star / 100,
    lower: lower / 100,
    culet: culet / 100,
  }
}
