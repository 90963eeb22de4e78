import type { Polygon } from './mesh.ts'

/**
 * Half-edges, facet by facet in the order of their corners. Those of facet f have the indices `first[f]` up to but not including
 * `first[f + 1]`.
 */
export type HalfEdges = {
  readonly first: Int32Array
  readonly facet: Int32Array
  readonly from: Int32Array
  readonly to: Int32Array
  /** The half-edge of another facet along the same edge; -1 if there is none. */
  readonly twin: Int32Array
  /** A half-edge along an edge that already has two; -1 if there is none. */
  readonly nonManifold: number
}

export function toHalfEdges(polygons: readonly Polygon[]): HalfEdges {
  const first = new Int32Array(polygons.length + 1)
  for (const [index, { corners }] of polygons.entries()) first[index + 1] = (first[index] ?? 0) + corners.length
  const count = first[polygons.length] ?? 0
  const [facet, from, to] = [new Int32Array(count), new Int32Array(count), new Int32Array(count)]
  for (const [index, { corners }] of polygons.entries()) {
    const start = first[index] ?? 0
    for (const [position, corner] of corners.entries()) {
      facet[start + position] = index
      from[start + position] = corner
      to[start + position] = corners[position + 1] ?? corners[0] ?? corner
    }
  }
  return { first, facet, from, to, ...pairTwins(from, to) }
}

function pairTwins(from: Int32Array, to: Int32Array): Pick<HalfEdges, 'twin' | 'nonManifold'> {
  const twin = new Int32Array(from.length).fill(-1)
  const halfEdgesByEdge = new Map<number, number>()
  let nonManifold = -1
  for (let halfEdge = 0; halfEdge < from.length; halfEdge++) {
    const [a, b] = [from[halfEdge] ?? 0, to[halfEdge] ?? 0]
    const edge = Math.min(a, b) * MAX_VERTICES + Math.max(a, b)
    const other = halfEdgesByEdge.get(edge)
    if (other === undefined) halfEdgesByEdge.set(edge, halfEdge)
    else if (twin[other] === -1) {
      twin[other] = halfEdge
      twin[halfEdge] = other
    } else nonManifold = halfEdge
  }
  return { twin, nonManifold }
}

/** More than any mesh has: combines two vertex indices into one number. */
const MAX_VERTICES = 2 ** 26
