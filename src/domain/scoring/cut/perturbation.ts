import type { Finish, Grade } from './cut.ts'
import { SEQUENCE_STEPS_2D } from '../light/view.ts'
import { add, cross, dot, radians, scale, unit, type Facet, type StonePart, type Vector } from '../solid/facet.ts'
import { solidOf, type Solid } from '../solid/solid.ts'

/** GIA's limits of Excellent: how much crown and pavilion angles may vary within one stone, in degrees (Gems & Gemology, winter 2011). */
export const excellentLimit = { crown: 1.2, pavilion: 0.9 } as const

/**
 * By how much of Excellent's limit angles vary in a stone of each grade. Limits below Excellent are not published: each
 * grade is taken to allow twice as much; Poor has no limit, and stands just past Fair's.
 */
export const toleranceFactors: Readonly<Record<Grade, number>> = {
  Ideal: 0.5,
  Excellent: 1,
  'Very Good': 2,
  Good: 4,
  Fair: 8,
  Poor: 9,
}

/** How flat polishing left the facets, in degrees for Excellent; worse grades by the same factors. Our own assumption: not published. */
const POLISH = 0.05

/** How much the facets of a stone lean away from where they should: rms, in degrees. */
export type Deviation = { readonly crown: number; readonly pavilion: number }

/**
 * A stone as it was meant, with its facets tilted about their middles as far as polish and symmetry grades allow: as pictures show it, and
 * as what a lean takes off is found. Always the same tilts.
 * @param pattern which of the many ways that a grade allows: each goes on where the one before ended
 */
export function perturbSolid(
  ideal: Solid,
  symmetry: Grade,
  polish: Grade,
  pattern = 0,
): { solid: Solid; deviation: Deviation } {
  const from = pattern * ideal.faces.length
  const facets = ideal.faces.map(({ facet, corners }, index) => {
    const coarse = tilt(facet, from + index, symmetric(facet.part, symmetry), 0)
    const fine = tilt(facet, from + index, POLISH * toleranceFactors[polish], 0.5)
    return tiltFacet(facet, middle(corners), add(coarse, fine))
  })
  return { solid: solidOf(facets), deviation: deviationAt(ideal, symmetry, from) }
}

/** How far a grade of symmetry lets the facets of a stone lean. */
export const modelledDeviation = (ideal: Solid, symmetry: Grade): Deviation => deviationAt(ideal, symmetry, 0)

function deviationAt({ faces }: Solid, symmetry: Grade, from: number): Deviation {
  const rms = (part: StonePart) => {
    const squares = faces.flatMap(({ facet }, index) =>
      facet.part === part && isTilted(facet) ? [square(tilt(facet, from + index, symmetric(part, symmetry), 0))] : [],
    )
    return (Math.sqrt(squares.reduce((sum, value) => sum + value, 0) / squares.length) * 180) / Math.PI
  }
  return { crown: rms('crown'), pavilion: rms('pavilion') }
}

/** Over how many degrees a part's slopes spread. */
const symmetric = (part: StonePart, symmetry: Grade): number =>
  part === 'crown' || part === 'pavilion' ? excellentLimit[part] * toleranceFactors[symmetry] : 0

/** How far facets lean that polish and symmetry let lean: rms over crown and pavilion, in degrees. */
export function leanOf({ symmetry, polish }: Finish): number {
  const fine = POLISH * toleranceFactors[polish]
  const range = Math.hypot(symmetric('crown', symmetry), symmetric('pavilion', symmetry)) * Math.SQRT1_2
  return Math.hypot(range, fine) / RANGE_OF_RMS
}

/** The end-to-end range of evenly spread values is the square root of 12 times their rms. */
export const RANGE_OF_RMS = Math.sqrt(12)

/** What to add to a facet's normal so that slopes spread evenly over `range` degrees: a plane sequence without gaps, by facet. */
const isTilted = ({ part, name }: Facet): boolean =>
  (part === 'crown' || part === 'pavilion') && name !== 'table' && name !== 'culet'

function tilt(facet: Facet, index: number, range: number, phase: number): Vector {
  if (!isTilted(facet)) return [0, 0, 0]
  const { normal } = facet
  const across = unit(Math.abs(normal[2]) < 0.999 ? cross(normal, [0, 0, 1]) : [1, 0, 0])
  const along = cross(normal, across)
  const size = radians(range) * Math.SQRT1_2
  const part1 = fraction((index + 1) * SEQUENCE_STEPS_2D[0] + phase) - 0.5
  const part2 = fraction((index + 1) * SEQUENCE_STEPS_2D[1] + phase) - 0.5
  return add(scale(across, size * part1), scale(along, size * part2))
}

const fraction = (value: number): number => value - Math.floor(value)
const square = (vector: Vector): number => dot(vector, vector)

function tiltFacet(facet: Facet, about: Vector, by: Vector): Facet {
  if (square(by) === 0) return facet
  const normal = unit(add(facet.normal, by))
  return { ...facet, normal, offset: dot(normal, about) }
}

function middle(corners: readonly Vector[]): Vector {
  return scale(corners.reduce(add), 1 / corners.length)
}
