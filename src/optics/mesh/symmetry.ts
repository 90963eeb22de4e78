import type { Deviation } from '../cut/perturbation.ts'
import { degrees, dot, radians, type Facet, type StonePart, type Vector } from '../solid/facet.ts'
import type { Solid } from '../solid/solid.ts'

/** Rotational symmetry of a shape: 8 for a round brilliant, 1 for a pear, which has only one mirror plane. */
export type SymmetryFold = 8 | 4 | 2 | 1

/**
 * How far a stone's facets deviate from its nominal symmetry: rms in degrees, comparable to the Deviation of a modelled stone.
 *
 * Each rotation and mirror image of the pattern (2 · fold - 1 of them; for fold 1 the mirror image) maps the facets of a part, except
 * table and culet, onto facets of the same part. With t the angle between a mapped facet and the nearest one:
 *   deviation = sqrt( sum(area · t²) / sum(area) / 2 )
 * over facets and images; divided by 2 because both compared facets deviate. A facet without a counterpart is an extra one, or one is
 * missing; these are not counted. The mirror planes are turned about the vertical axis to minimise the sum.
 */
export function measuredDeviation(solid: Solid, fold: SymmetryFold): Deviation {
  const [crown, pavilion] = [slopingFacetsOf(solid, 'crown'), slopingFacetsOf(solid, 'pavilion')]
  const turns = Array.from({ length: fold - 1 }, (_, index) => turnBy(((index + 1) * 2 * Math.PI) / fold))
  const axis = bestAxis([crown, pavilion], fold)
  const images = [...turns, ...mirrorsFrom(axis, fold)]
  return { crown: degrees(rmsAngle(misfit(crown, images))), pavilion: degrees(rmsAngle(misfit(pavilion, images))) }
}

type SlopingFacet = { readonly normal: Vector; readonly area: number }
type SymmetryOperation = (normal: Vector) => Vector

const isLevel = ({ name }: Facet): boolean => name === 'table' || name === 'culet'

function slopingFacetsOf({ faces }: Solid, part: StonePart): SlopingFacet[] {
  return faces
    .filter(({ facet }) => facet.part === part && !isLevel(facet))
    .map(({ facet: { normal }, area }) => ({ normal, area }))
}

function turnBy(angle: number): SymmetryOperation {
  const [cosine, sine] = [Math.cos(angle), Math.sin(angle)]
  return ([x, y, z]) => [x * cosine - y * sine, x * sine + y * cosine, z]
}

function mirrorAt(angle: number): SymmetryOperation {
  const [cosine, sine] = [Math.cos(2 * angle), Math.sin(2 * angle)]
  return ([x, y, z]) => [x * cosine + y * sine, x * sine - y * cosine, z]
}

const mirrorsFrom = (axis: number, fold: SymmetryFold): SymmetryOperation[] =>
  Array.from({ length: fold }, (_, index) => mirrorAt(axis + (index * Math.PI) / fold))

/** Initial search step in radians, much smaller than the angle between neighbouring facets. */
const STEP = radians(0.5)
/** Each searches around the best angle, with a third of the step. */
const REFINEMENTS = 10

/** The angle of a mirror plane for which the images fit best, in radians. */
function bestAxis(parts: readonly (readonly SlopingFacet[])[], fold: SymmetryFold): number {
  const misfitAt = (axis: number) =>
    parts
      .map((part) => misfit(part, mirrorsFrom(axis, fold)))
      .reduce((sum, { squares, unmatchedArea }) => sum + squares + unmatchedArea * MAX_MATCH_ANGLE ** 2, 0)
  const steps = Math.round(Math.PI / fold / STEP)
  let best = argMin(
    Array.from({ length: steps }, (_, index) => index * STEP),
    misfitAt,
  )
  for (let step = STEP / 2, times = 0; times < REFINEMENTS; step /= 3, times++) {
    best = argMin(
      [-2, -1, 0, 1, 2].map((offset) => best + offset * step),
      misfitAt,
    )
  }
  return best
}

function argMin(values: readonly number[], cost: (value: number) => number): number {
  const costs = values.map(cost)
  return values[costs.indexOf(Math.min(...costs))] ?? 0
}

/** Radians. Facets that are meant to match differ by less. */
const MAX_MATCH_ANGLE = radians(12)

/** Sums over facets and images: squared angles weighted by area, their area, and the area of facets without a counterpart. */
type Misfit = { readonly squares: number; readonly area: number; readonly unmatchedArea: number }

function misfit(facets: readonly SlopingFacet[], images: readonly SymmetryOperation[]): Misfit {
  const normals = facets.map(({ normal }) => normal)
  let [squares, area, unmatchedArea] = [0, 0, 0]
  for (const facet of facets) {
    for (const image of images) {
      const angle = nearestTo(image(facet.normal), normals)
      if (angle > MAX_MATCH_ANGLE) unmatchedArea += facet.area
      else {
        squares += facet.area * angle ** 2
        area += facet.area
      }
    }
  }
  return { squares, area, unmatchedArea }
}

/** Radians; 0 for a part without sloping facets, LOST if no facet has a counterpart. */
function rmsAngle({ squares, area, unmatchedArea }: Misfit): number {
  if (area === 0) return unmatchedArea === 0 ? 0 : MAX_MATCH_ANGLE
  return Math.sqrt(squares / area / 2)
}

function nearestTo(normal: Vector, normals: readonly Vector[]): number {
  let cosine = -1
  for (const other of normals) cosine = Math.max(cosine, dot(normal, other))
  return Math.acos(Math.min(1, cosine))
}
