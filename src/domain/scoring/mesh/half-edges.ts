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
  readonly crowded: number
}

export function toHalfEdges(polygons: readonly Polygon[]): HalfEdges {
  const first = new Int32Array(polygons.length + 1)
  for (const [index, { corners }] of polygons.entries()) first[index + 1] = (first[index] ?? 0) + corners.length
  const count = first[polygons.length] ?? 0
  const [facet, from, to] = [new Int32Array(count), new Int32Array(count), new Int32Array(count)]
  for (const [index, { corners }] of polygons.entries()) {
    const start = first[index] ?? 0
    for (const [place, corner] of corners.entries()) {
      facet[start + place] = index
      from[start + place] = corner
      to[start + place] = corners[place + 1] ?? corners[0] ?? corner
    }
  }
  return { first, facet, from, to, ...pairTwins(from, to) }
}

function pairTwins(from: Int32Array, to: Int32Array): Pick<HalfEdges, 'twin' | 'crowded'> {
  const twin = new Int32Array(from.length).fill(-1)
  const seen = new Map<number, number>()
  let crowded = -1
  for (let side = 0; side < from.length; side++) {
    const [a, b] = [from[side] ?? 0, to[side] ?? 0]
    const edge = Math.min(a, b) * MORE_POINTS + Math.max(a, b)
    const other = seen.get(edge)
    if (other === undefined) seen.set(edge, side)
    else if (twin[other] === -1) {
      twin[other] = side
      twin[side] = other
    } else crowded = side
  }
  return { twin, crowded }
}

/** More than any mesh has: combines two vertex indices into one number. */
const MORE_POINTS = 2 ** 26
