import { fractionalPart } from '../rounding.ts'
import type { Finish, Grade } from './cut.ts'
import { SEQUENCE_STEPS_2D } from '../light/view.ts'
import { add, cross, dot, radians, scale, unit, type Facet, type StonePart, type Vector } from '../solid/facet.ts'
import { solidOf, type Solid } from '../solid/solid.ts'

/** The GIA's limits for Excellent: the range of crown and pavilion angles within one stone, in degrees (Gems & Gemology, winter 2011). */
export const excellentLimit = { crown: 1.2, pavilion: 0.9 } as const

/**
 * The range of angles for each grade, in multiples of the limit for Excellent. No limits are published below Excellent: each
 * grade is assumed to allow twice as much; Poor has no limit and is assumed to be just beyond Fair.
 */
export const toleranceFactors: Readonly<Record<Grade, number>> = {
  Ideal: 0.5,
  Excellent: 1,
  'Very Good': 2,
  Good: 4,
  Fair: 8,
  Poor: 9,
}

/** Tilt by polishing for Excellent, in degrees; for other grades multiplied by toleranceFactors. An assumption: nothing is published. */
const POLISH_TILT_DEGREES = 0.05

/** How far facets are tilted from their nominal planes: rms, in degrees. */
export type Deviation = { readonly crown: number; readonly pavilion: number }

/**
 * Tilts the facets of an ideal stone about their centres, as far as the symmetry and polish grades allow. Used for pictures and to
 * compute the lean factors. Deterministic.
 * @param pattern index of the tilt pattern; each pattern uses the next part of the sequence
 */
export function perturbSolid(
  ideal: Solid,
  symmetry: Grade,
  polish: Grade,
  pattern = 0,
): { solid: Solid; deviation: Deviation } {
  const from = pattern * ideal.faces.length
  const facets = ideal.faces.map(({ facet, corners }, index) => {
    const symmetryTilt = tilt(facet, from + index, angleRange(facet.part, symmetry), 0)
    const polishTilt = tilt(facet, from + index, POLISH_TILT_DEGREES * toleranceFactors[polish], 0.5)
    return tiltFacet(facet, middle(corners), add(symmetryTilt, polishTilt))
  })
  return { solid: solidOf(facets), deviation: deviationAt(ideal, symmetry, from) }
}

export const modelledDeviation = (ideal: Solid, symmetry: Grade): Deviation => deviationAt(ideal, symmetry, 0)

function deviationAt({ faces }: Solid, symmetry: Grade, from: number): Deviation {
  const rms = (part: StonePart) => {
    const squares = faces.flatMap(({ facet }, index) =>
      facet.part === part && isTilted(facet) ? [square(tilt(facet, from + index, angleRange(part, symmetry), 0))] : [],
    )
    return (Math.sqrt(squares.reduce((sum, value) => sum + value, 0) / squares.length) * 180) / Math.PI
  }
  return { crown: rms('crown'), pavilion: rms('pavilion') }
}

/** The range of a part's angles in degrees. */
const angleRange = (part: StonePart, symmetry: Grade): number =>
  part === 'crown' || part === 'pavilion' ? excellentLimit[part] * toleranceFactors[symmetry] : 0

/** The combined tilt of symmetry and polish: rms over crown and pavilion, in degrees. */
export function combinedTilt({ symmetry, polish }: Finish): number {
  const polishRange = POLISH_TILT_DEGREES * toleranceFactors[polish]
  const range = Math.hypot(angleRange('crown', symmetry), angleRange('pavilion', symmetry)) * Math.SQRT1_2
  return Math.hypot(range, polishRange) / RANGE_OF_RMS
}

/** For uniformly distributed values, the total range is the square root of 12 times their rms. */
export const RANGE_OF_RMS = Math.sqrt(12)

const isTilted = ({ part, name }: Facet): boolean =>
  (part === 'crown' || part === 'pavilion') && name !== 'table' && name !== 'culet'

/** A vector to add to a facet's normal; over all facets, angles are spread evenly over `range` degrees by a low-discrepancy sequence. */
function tilt(facet: Facet, index: number, range: number, phase: number): Vector {
  if (!isTilted(facet)) return [0, 0, 0]
  const { normal } = facet
  const across = unit(Math.abs(normal[2]) < 0.999 ? cross(normal, [0, 0, 1]) : [1, 0, 0])
  const along = cross(normal, across)
  const size = radians(range) * Math.SQRT1_2
  const fractionAcross = fractionalPart((index + 1) * SEQUENCE_STEPS_2D[0] + phase) - 0.5
  const fractionAlong = fractionalPart((index + 1) * SEQUENCE_STEPS_2D[1] + phase) - 0.5
  return add(scale(across, size * fractionAcross), scale(along, size * fractionAlong))
}

const square = (vector: Vector): number => dot(vector, vector)

function tiltFacet(facet: Facet, pivot: Vector, normalChange: Vector): Facet {
  if (square(normalChange) === 0) return facet
  const normal = unit(add(facet.normal, normalChange))
  return { ...facet, normal, offset: dot(normal, pivot) }
}

function middle(corners: readonly Vector[]): Vector {
  return scale(corners.reduce(add), 1 / corners.length)
}
