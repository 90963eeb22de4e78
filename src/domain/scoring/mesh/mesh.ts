import type { Vector } from '../solid/vector.ts'

/** A surface as a file describes it: points in millimetres, and facets as the indices of their corners, in order around each. */
export type Mesh = { readonly vertices: readonly Vector[]; readonly facets: readonly (readonly number[])[] }

/** The length of the box around all points, from corner to corner: what tolerances are parts of. Millimetres. */
export function sizeOf(vertices: readonly Vector[]): number {
  const { least, most } = boxOf(vertices)
  return Math.hypot(most[0] - least[0], most[1] - least[1], most[2] - least[2])
}

/** The smallest box along the axes that holds all points; there must be a point. */
export function boxOf(vertices: readonly Vector[]): { least: Vector; most: Vector } {
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
  return { least: [left, front, bottom], most: [right, back, top] }
}

/** The same facets over only those points that are a corner of one, in their order. */
export function withoutStrays({ vertices, facets }: Mesh): Mesh {
  const places = new Int32Array(vertices.length).fill(-1)
  for (const facet of facets) for (const corner of facet) places[corner] = 0
  const kept = vertices.filter((_, index) => places[index] === 0)
  let count = 0
  for (const [index, place] of places.entries()) if (place === 0) places[index] = count++
  return { vertices: kept, facets: facets.map((facet) => facet.map((corner) => places[corner] ?? corner)) }
}
