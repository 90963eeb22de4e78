import { defaultFinishGrade, type Cut, type CutGrade, type ModelledShape } from '../../src/optics/cut/cut.ts'
import { facetModels } from '../../src/optics/cut/facets.ts'
import { roundProportions, type RoundMeasures } from '../../src/optics/cut/trace-cut.ts'
import { solidOf, type Solid } from '../../src/optics/solid/solid.ts'
import { radians, unit, type Facet, type StonePart, type Vector } from '../../src/optics/solid/facet.ts'

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

/** A ring of facets at an angle in degrees from the table's plane (above 90: facing down) and a distance from the origin. */
const ring = (part: StonePart, degrees: number, offset: number, count: number): Facet[] =>
  Array.from({ length: count }, (_, index) => {
    const around = (2 * Math.PI * index) / count
    const [flat, z] = [Math.sin(radians(degrees)), Math.cos(radians(degrees))]
    return { part, name: part, normal: unit([flat * Math.cos(around), flat * Math.sin(around), z]), offset }
  })
const table: Facet = { part: 'crown', name: 'table', normal: [0, 0, 1], offset: 0.2 }

/** Stones of few facets whose girdles differ. */
export const plainStones: Readonly<Record<string, Solid>> = {
  'with upright walls': solidOf([
    table,
    ...ring('crown', 35, 0.4, 8),
    ...ring('girdle', 90, 0.5, 16),
    ...ring('pavilion', 139, 0.36, 8),
  ]),
  'with walls that lean inwards': solidOf([table, ...ring('girdle', 82, 0.5, 7), ...ring('pavilion', 139, 0.36, 8)]),
  'with walls that lean outwards': solidOf([table, ...ring('girdle', 98, 0.5, 7), ...ring('pavilion', 139, 0.36, 8)]),
  'with a keel between a wall and its pavilion': solidOf([
    table,
    ...ring('girdle', 98, 0.3, 3),
    { part: 'pavilion', name: 'keel', normal: unit([0.9, 0.1, -0.5]), offset: 0.2 },
  ]),
  'without walls': solidOf([table, ...ring('crown', 35, 0.4, 8), ...ring('pavilion', 139, 0.36, 8)]),
}
