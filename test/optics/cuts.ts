import { defaultFinishGrade, type Cut, type CutGrade, type ModelledShape } from '../../src/optics/cut/cut.ts'
import { facetModels } from '../../src/optics/cut/facets.ts'
import { roundProportions, type RoundMeasures } from '../../src/optics/cut/trace-cut.ts'
import { solidOf, type Solid } from '../../src/optics/solid/solid.ts'
import type { Vector } from '../../src/optics/solid/facet.ts'

/** The reference round brilliant with some measures replaced. */
export const roundOf = (measures: Partial<RoundMeasures>): Solid =>
  solidOf(facetModels.Round(roundProportions(measures)))

/** A stone rotated about its axis by an angle in radians. */
export const rotatedBy = ({ facets }: Solid, angle: number): Solid => {
  const [cosine, sine] = [Math.cos(angle), Math.sin(angle)]
  const turned = ([x, y, z]: Vector): Vector => [x * cosine - y * sine, x * sine + y * cosine, z]
  return solidOf(facets.map((facet) => ({ ...facet, normal: turned(facet.normal) })))
}

/** A cut that is described by its shape and grade alone. */
export const nominalCut = (shape: ModelledShape, grade: CutGrade): Cut => ({
  shape,
  grade,
  polish: defaultFinishGrade(grade),
  symmetry: defaultFinishGrade(grade),
})

export const isClose = (got: number, expected: number, tolerance: number): boolean =>
  Math.abs(got - expected) <= tolerance
