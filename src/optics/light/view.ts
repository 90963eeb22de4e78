import type { Solid } from '../solid/solid.ts'
import { cross, length, subtract, type Vector } from '../solid/facet.ts'
import { fractionalPart } from '../rounding.ts'
import { at } from './typed-arrays.ts'
import { toPlaneSet, type PlaneSet } from './planes.ts'

/** A view of a stone by a distant eye, centred on the middle of the girdle. */
export type View = {
  /** Direction from the stone to the eye. */
  readonly eye: Vector
  readonly right: Vector
  readonly up: Vector
  readonly middle: Vector
}

/**
 * @param tilt angle in radians between the eye and the zenith
 * @param azimuth direction of the eye in radians from the x axis
 */
export function viewFrom({ inner, crownBottom, pavilionTop }: PlaneSet, tilt: number, azimuth: number): View {
  const eye: Vector = [Math.sin(tilt) * Math.cos(azimuth), Math.sin(tilt) * Math.sin(azimuth), Math.cos(tilt)]
  const norm = Math.hypot(eye[0], eye[2])
  const right: Vector = [eye[2] / norm, 0, -eye[0] / norm]
  const up: Vector = [eye[1] * right[2], norm, -eye[1] * right[0]]
  return { eye, right, up, middle: [0, inner.middle, (crownBottom + pavilionTop) / 2] }
}

/** Where a point of the stone appears in the view, in widths of the stone from the centre. */
export function project({ right, up, middle }: View, [x, y, z]: Vector): readonly [across: number, along: number] {
  const [fromX, fromY, fromZ] = [x - middle[0], y - middle[1], z - middle[2]]
  return [fromX * right[0] + fromY * right[1] + fromZ * right[2], fromX * up[0] + fromY * up[1] + fromZ * up[2]]
}

/** The sides of the rectangle that the stone, or the half of it that is modelled, takes up in the view. */
export function boundsIn(view: View, { faces }: Solid): Readonly<Record<'left' | 'right' | 'bottom' | 'top', number>> {
  let [left, right, bottom, top] = [Infinity, -Infinity, Infinity, -Infinity]
  for (const { corners } of faces)
    for (const corner of corners) {
      const [x, y] = project(view, corner)
      left = Math.min(left, x)
      right = Math.max(right, x)
      bottom = Math.min(bottom, y)
      top = Math.max(top, y)
    }
  return { left, right, bottom, top }
}

/** The crown as triangles, for sampling points on it. */
export type CrownTarget = {
  readonly planes: PlaneSet
  /** Nine numbers per triangle: a corner, and the edges from it to the other two. */
  readonly triangles: Float64Array
  /** The plane of each triangle, and the fraction of the crown's area up to and including it. */
  readonly plane: Int32Array
  readonly cumulativeArea: Float64Array
  readonly area: number
  /** Light that falls on the crown from a uniform sky with radiance 1. */
  readonly flux: number
}

export function crownTargetOf(solid: Solid): CrownTarget {
  const planes = toPlaneSet(solid)
  const crown = solid.faces.filter(({ facet }) => facet.part === 'crown')
  const area = crown.reduce((sum, face) => sum + face.area, 0)
  const triangles = crown.flatMap(({ facet, corners }) =>
    fan(corners).map((triangle) => ({ triangle, plane: planes.order.indexOf(facet) })),
  )
  let sum = 0
  const cumulativeAreas = triangles.map(({ triangle: [, a, b] }) => (sum += length(cross(a, b)) / 2 / area))
  return {
    planes,
    triangles: Float64Array.from(triangles.flatMap(({ triangle }) => triangle.flat())),
    plane: Int32Array.from(triangles.map(({ plane }) => plane)),
    cumulativeArea: Float64Array.from(cumulativeAreas),
    area,
    flux: crown.reduce((flux, face) => flux + (face.area * Math.PI * (1 + face.facet.normal[2])) / 2, 0),
  }
}

/** Splits a convex polygon into a triangle fan: its first corner and the edges to two others. */
function fan([first, ...others]: readonly Vector[]): [Vector, Vector, Vector][] {
  return others.slice(1).flatMap((corner, index) => {
    const before = others[index]
    return first === undefined || before === undefined
      ? []
      : [[first, subtract(before, first), subtract(corner, first)]]
  })
}

/** Low-discrepancy additive recurrence in four dimensions: powers of the root of x^5 = x + 1. */
const ROOT = 1.1673039782614187
const STEPS = [1, 2, 3, 4].map((power) => ROOT ** -power)
const [STEP_A = 0, STEP_B = 0, STEP_C = 0, STEP_D = 0] = STEPS

/** The same in two dimensions: powers of the root of x^3 = x + 1. */
export const SEQUENCE_STEPS_2D = [0.7548776662466927, 0.5698402909980532] as const

/** The four coordinates of a sample, each from 0 to 1. Deterministic, and evenly distributed for any number of samples. */
export function sample(coordinates: Float64Array, index: number): void {
  coordinates[0] = fractionalPart(index * STEP_A + 0.5)
  coordinates[1] = fractionalPart(index * STEP_B + 0.5)
  coordinates[2] = fractionalPart(index * STEP_C + 0.5)
  coordinates[3] = fractionalPart(index * STEP_D + 0.5)
}

/** Chooses a triangle by area with the first coordinate, which is then rescaled to 0 to 1 within the triangle. */
export function chooseTriangle(target: CrownTarget, coordinates: Float64Array): number {
  const areaFraction = at(coordinates, 0)
  let low = 0
  let high = target.cumulativeArea.length - 1
  while (low < high) {
    const middle = (low + high) >> 1
    if (at(target.cumulativeArea, middle) <= areaFraction) low = middle + 1
    else high = middle
  }
  const areaBefore = low === 0 ? 0 : at(target.cumulativeArea, low - 1)
  coordinates[0] = Math.min(1, (areaFraction - areaBefore) / (at(target.cumulativeArea, low) - areaBefore))
  return low
}
