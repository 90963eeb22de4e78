import type { Mesh } from './mesh.ts'
import { named, NoStone } from './no-stone.ts'
import { fitOf, pointAt, type Polygon } from './polygon.ts'
import { sidesOf, type Sides } from './sides.ts'

/** The facets of a closed surface, and how they meet. */
export type Surface = { readonly polygons: readonly Polygon[]; readonly sides: Sides }

/**
 * A mesh's facets where every edge joins two of them. Facets without area stay where they fill the edges of others (a point
 * on a straight edge), and are left out where the surface is closed without them.
 * @param flat the thickness in millimetres up to which a facet counts as one without area
 * @throws NoStone where an edge has one facet, or three
 */
export function closedSurface({ vertices, facets }: Mesh, flat: number): Surface {
  const all = facets
    .map((corners, index) => ({ number: index + 1, corners }))
    .filter(({ corners }) => corners.length > 2)
  const whole = surfaceOf(all)
  if (isClosed(whole)) return whole
  const rest = surfaceOf(all.filter(({ corners }) => fitOf(vertices, corners).thickness > flat))
  if (isClosed(rest)) return rest
  throw new NoStone(faultOf(whole, vertices))
}

const surfaceOf = (polygons: readonly Polygon[]): Surface => ({ polygons, sides: sidesOf(polygons) })
const isClosed = ({ sides: { twin, crowded } }: Surface): boolean => crowded < 0 && !twin.includes(-1)

function faultOf({ polygons, sides }: Surface, vertices: Mesh['vertices']): string {
  const { facet, from, to, twin, crowded } = sides
  const side = crowded < 0 ? twin.indexOf(-1) : crowded
  const ends = [from, to].map((corners) => named(pointAt(vertices, corners[side] ?? 0)))
  const place = `at the edge from ${ends.join(' to ')}`
  const number = polygons[facet[side] ?? 0]?.number
  return crowded < 0
    ? `The body is open ${place}, where facet ${number} ends`
    : `More than two facets meet ${place}, one of them facet ${number}; every edge must join two`
}
