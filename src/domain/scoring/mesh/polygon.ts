import { add, cross, dot, length, scale, subtract, type Vector } from '../solid/vector.ts'

/** A facet of a mesh; `number` is its place in the file, counted from 1. */
export type Polygon = { readonly number: number; readonly corners: readonly number[] }

/** A polygon's plane as well as its corners have one: normal · p = offset. `thickness` is its height over its longest side. */
export type Fit = {
  readonly normal: Vector
  readonly offset: number
  readonly area: number
  readonly middle: Vector
  readonly thickness: number
}

/** Corners counter-clockwise around the normal. A polygon without area has a normal of zeros. */
export function fitOf(vertices: readonly Vector[], corners: readonly number[]): Fit {
  const points = corners.map((corner) => pointAt(vertices, corner))
  const [first = ZERO] = points
  let sum = ZERO
  let middle = ZERO
  let longest = 0
  for (const [index, point] of points.entries()) {
    const next = points[index + 1] ?? first
    sum = add(sum, cross(subtract(point, first), subtract(next, first)))
    middle = add(middle, point)
    longest = Math.max(longest, length(subtract(next, point)))
  }
  const double = length(sum)
  const normal = double > 0 ? scale(sum, 1 / double) : ZERO
  const centre = scale(middle, 1 / Math.max(1, points.length))
  const thickness = longest > 0 ? double / longest : 0
  return { normal, offset: dot(normal, centre), area: double / 2, middle: centre, thickness }
}

export const pointAt = (vertices: readonly Vector[], index: number): Vector => vertices[index] ?? ZERO

/** How far a point is above a plane, in millimetres. */
export const above = ({ normal, offset }: Pick<Fit, 'normal' | 'offset'>, point: Vector): number =>
  dot(normal, point) - offset

const ZERO: Vector = [0, 0, 0]
