import type { Mesh } from '../../domain/scoring/mesh/mesh.ts'
import { UnreadableMesh } from './unreadable-mesh.ts'

export const MOST_FACETS = 100_000
/** No closed convex surface has more corners in all than six a facet (Euler), nor a file that writes each one anew more points. */
export const MOST_CORNERS = 6 * MOST_FACETS

/** How far from zero a coordinate may be, in millimetres: a kilometre, so that no product is too large for a number. */
const FARTHEST = 1e6

/** A mesh while its file is read. `where` names the place in messages: `Line 12` or `Facet 3`. */
export type Draft = {
  readonly mesh: Mesh
  addPoint(where: string, point: readonly number[]): number
  addFacet(where: string, corners: readonly number[]): void
}

/** An empty draft. What is added is checked: finite coordinates, facets of three corners at least, no more than the limits. */
export function newDraft(): Draft {
  const vertices: (readonly [number, number, number])[] = []
  const facets: (readonly number[])[] = []
  let corners = 0
  return {
    mesh: { vertices, facets },
    addPoint(where, [x = NaN, y = NaN, z = NaN]) {
      checkCoordinates(where, [x, y, z])
      if (vertices.length === MOST_CORNERS) throw new UnreadableMesh(`${where}: a file may hold ${MOST_CORNERS} points`)
      return vertices.push([x, y, z]) - 1
    },
    addFacet(where, facet) {
      corners += facet.length
      if (facet.length < 3) throw new UnreadableMesh(`${where}: a facet needs 3 corners, got ${facet.length}`)
      if (facets.length === MOST_FACETS) throw tooMany(where)
      if (corners > MOST_CORNERS)
        throw new UnreadableMesh(`${where}: all facets together may have ${MOST_CORNERS} corners`)
      facets.push(facet)
    },
  }
}

export const tooMany = (where: string): UnreadableMesh =>
  new UnreadableMesh(`${where}: a file may hold at most ${MOST_FACETS} facets`)

function checkCoordinates(where: string, point: readonly number[]): void {
  const wrong = point.find((value) => !(Math.abs(value) <= FARTHEST))
  if (wrong === undefined) return
  throw new UnreadableMesh(`${where}: a coordinate must be a number from -${FARTHEST} to ${FARTHEST}, got ${wrong}`)
}

/** The mesh of a file that was read to its end. */
export function finished({ mesh }: Draft): Mesh {
  const count = mesh.vertices.length
  for (const [index, facet] of mesh.facets.entries()) {
    const wrong = facet.find((corner) => corner < 0 || corner >= count)
    if (wrong === undefined) continue
    throw new UnreadableMesh(`Facet ${index + 1} names point ${wrong + 1} of a file that holds ${count} points`)
  }
  if (mesh.facets.length === 0) throw new UnreadableMesh('The file holds no facets, a body needs 4 at least')
  return mesh
}
