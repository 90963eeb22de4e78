import type { Cut, Grade, ModelledShape } from '../../../src/domain/scoring/cut.ts'
import { facetModels } from '../../../src/domain/scoring/facets.ts'
import type { Proportions } from '../../../src/domain/scoring/proportions.ts'
import { solidOf, type Solid } from '../../../src/domain/scoring/solid.ts'
import { radians } from '../../../src/domain/scoring/vector.ts'

/** A round brilliant by its angles, in percent and degrees, as reports give them. */
export type RoundMeasures = {
  table: number
  crown: number
  pavilion: number
  star?: number
  lower?: number
  girdle?: number
  culet?: number
}

export const roundOf = (measures: RoundMeasures): Solid => solidOf(facetModels.Round(roundProportions(measures)))

/** Unless said: star 50, lower half 75, girdle 3 and culet 0.5 %, as the reference round has them. */
export function roundProportions(measures: RoundMeasures): Proportions {
  const { table, crown, pavilion, star = 50, lower = 75, girdle = 3, culet = 0.5 } = measures
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

/** A cut that leaves all to its grade. */
export const plain = (shape: ModelledShape, grade: Grade): Cut => ({ shape, grade, polish: grade, symmetry: grade })

export const close = (got: number, expected: number, tolerance: number): boolean =>
  Math.abs(got - expected) <= tolerance
