import { add, cross, dot, length, scale, subtract, type Vector } from '../solid/facet.ts'

/** The formats of 3D files that are read: Geomview's OFF, STL and Wavefront OBJ. */
export const MESH_FORMATS = ['OFF', 'STL', 'OBJ'] as const
export type MeshFormat = (typeof MESH_FORMATS)[number]

/**
 * A file that is not a readable mesh or is too large, or a mesh that does not bound a convex body. The message names the place by line or
 * facet number in the file, and by coordinates in millimetres.
 */
export class InvalidMesh extends Error {
  override readonly name = 'InvalidMesh'
}

/** A point for messages, rounded to micrometres. */
export const formatPoint = ([x, y, z]: Vector): string =>
  `(${roundToMicrometres(x)}, ${roundToMicrometres(y)}, ${roundToMicrometres(z)})`

export const roundToMicrometres = (value: number): number => Math.round(value * 1000) / 1000 + 0

/** A surface as in the file: points in millimetres, and facets as the indices of their corners in order. */
export type Mesh = { readonly vertices: readonly Vector[]; readonly facets: readonly (readonly number[])[] }

/** The diagonal of the bounding box in millimetres, which tolerances are relative to. */
export function diagonalOf(vertices: readonly Vector[]): number {
  const { min, max } = boundingBox(vertices)
  return Math.hypot(max[0] - min[0], max[1] - min[1], max[2] - min[2])
}

/** The axis-aligned bounding box. There must be at least one point. */
export function boundingBox(vertices: readonly Vector[]): { min: Vector; max: Vector } {
  let [left, front, bottom] = [Infinity, Infinity, Infinity]
  let [right, back, top] = [-Infinity, -Infinity, -Infinity]
  for (const [x, y, z] of vertices) {
    left = Math.min(left, x)
    right = Math.max(right, x)
    front = Math.min(front, y)
    back = Math.max(back, y)
    bottom = Math.min(bottom, z)
    top = Math.max(top, z)
  }
  return { min: [left, front, bottom], max: [right, back, top] }
}

/** The same mesh without unused vertices; the others keep their order. */
export function withoutUnusedVertices({ vertices, facets }: Mesh): Mesh {
  const newIndices = new Int32Array(vertices.length).fill(-1)
  for (const facet of facets) for (const corner of facet) newIndices[corner] = 0
  const kept = vertices.filter((_, index) => newIndices[index] === 0)
  let count = 0
  for (const [index, newIndex] of newIndices.entries()) if (newIndex === 0) newIndices[index] = count++
  return { vertices: kept, facets: facets.map((facet) => facet.map((corner) => newIndices[corner] ?? corner)) }
}

/** A facet of a mesh; `number` is its position in the file, from 1. */
export type Polygon = { readonly number: number; readonly corners: readonly number[] }

/** The best-fitting plane of a polygon: normal · p = offset. `thickness` is the polygon's height over its longest side. */
export type PlaneFit = {
  readonly normal: Vector
  readonly offset: number
  readonly area: number
  readonly middle: Vector
  readonly thickness: number
}

/** Corners are counter-clockwise around the normal. The normal of a degenerate polygon is zero. */
export function fitPlane(vertices: readonly Vector[], corners: readonly number[]): PlaneFit {
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

/** Signed distance of a point above a plane in millimetres. */
export const heightAbove = ({ normal, offset }: Pick<PlaneFit, 'normal' | 'offset'>, point: Vector): number =>
  dot(normal, point) - offset

const ZERO: Vector = [0, 0, 0]
