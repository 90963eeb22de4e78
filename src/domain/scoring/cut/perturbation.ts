import type { Grade } from './cut.ts'
import { PLANE_STEPS } from '../light/sampling.ts'
import type { Facet, Part } from '../solid/facet.ts'
import { solidOf, type Solid } from '../solid/solid.ts'
import { add, cross, dot, radians, scale, unit, type Vector } from '../solid/vector.ts'

/** GIA's limits of Excellent: how much crown and pavilion angles may vary within one stone, in degrees (Gems & Gemology, winter 2011). */
export const excellentLimit = { crown: 1.2, pavilion: 0.9 } as const

/**
 * By how much of Excellent's limit angles vary in a stone of each grade. Limits below Excellent are not published: each
 * grade is taken to allow twice as much; Poor has no limit, and stands just past Fair's.
 */
const spreadOf: Readonly<Record<Grade, number>> = {
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

/** A stone as it was meant, with its facets tilted about their middles as far as polish and symmetry grades allow. Always the same tilts. */
export function perturbed(ideal: Solid, symmetry: Grade, polish: Grade): { solid: Solid; deviation: Deviation } {
  const symmetric = (part: Part) =>
    part === 'crown' || part === 'pavilion' ? excellentLimit[part] * spreadOf[symmetry] : 0
  const tilts = ideal.faces.map(({ facet }, index) => tilt(facet, index, symmetric(facet.part), 0))
  const facets = ideal.faces.map(({ facet, corners }, index) => {
    const fine = tilt(facet, index, POLISH * spreadOf[polish], 0.5)
    return tilted(facet, middle(corners), add(tilts[index] ?? [0, 0, 0], fine))
  })
  const rms = (part: Part) => {
    const squares = ideal.faces.flatMap(({ facet }, index) =>
      facet.part === part && isTilted(facet) ? [square(tilts[index] ?? [0, 0, 0])] : [],
    )
    return (Math.sqrt(squares.reduce((sum, value) => sum + value, 0) / squares.length) * 180) / Math.PI
  }
  return { solid: solidOf(facets), deviation: { crown: rms('crown'), pavilion: rms('pavilion') } }
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
  const part1 = fraction((index + 1) * PLANE_STEPS[0] + phase) - 0.5
  const part2 = fraction((index + 1) * PLANE_STEPS[1] + phase) - 0.5
  return add(scale(across, size * part1), scale(along, size * part2))
}

const fraction = (value: number): number => value - Math.floor(value)
const square = (vector: Vector): number => dot(vector, vector)

function tilted(facet: Facet, about: Vector, by: Vector): Facet {
  if (square(by) === 0) return facet
  const normal = unit(add(facet.normal, by))
  return { ...facet, normal, offset: dot(normal, about) }
}

function middle(corners: readonly Vector[]): Vector {
  return scale(corners.reduce(add), 1 / corners.length)
}
