import { closedSurface } from './closed.ts'
import { checkEdges, supporting } from './convex.ts'
import { flatsOf, type Flat, type Outside } from './flats.ts'
import { boxOf, sizeOf, withoutStrays, type Mesh } from './mesh.ts'
import { NoStone } from './no-stone.ts'
import { pointAt, type Polygon } from './polygon.ts'
import { sidesOf } from './sides.ts'
import { WELD } from './weld.ts'
import { alike, reversed } from './winding.ts'
import { add, cross, dot, scale, subtract, type Vector } from '../solid/vector.ts'

/** A closed convex body: flat facets, their corners counter-clockwise as seen from outside. Millimetres. */
export type Body = {
  readonly vertices: readonly Vector[]
  readonly facets: readonly Polygon[]
  /** In mm³, exact for the facets given. */
  readonly volume: number
  /** The planes that all its points are under, one for facets in nearly one plane. */
  readonly flats: readonly Flat[]
  /** Degrees within which neighbours were taken to be in one plane. */
  readonly angle: number
}

/** A body that fills less of its size cubed is flat. */
const FLAT = 1e-6
/** In millimetres: the smallest cut diamonds are ten times as large. */
const SMALLEST = 0.05

/**
 * The body that a mesh bounds. Facets that face inwards are turned, alone or all of them.
 * @param mesh with equal points welded, and no others than its facets' corners
 * @throws NoStone for what is open, in pieces, not convex or degenerate
 */
export function bodyOf(mesh: Mesh): Body {
  const size = sizeOf(mesh.vertices)
  if (!(size >= SMALLEST)) throw new NoStone(`The body must be ${SMALLEST} mm across at least, got ${size}`)
  if (mesh.facets.length < 4) throw new NoStone(`A body has 4 facets at least, got ${mesh.facets.length}`)
  const oriented = alike(closedSurface(mesh, WELD * size))
  const signed = volumeOf(mesh.vertices, oriented)
  const volume = Math.abs(signed)
  if (volume < FLAT * size ** 3) throw new NoStone(`The body is flat: its volume is ${volume} mm³`)
  const facing = signed < 0 ? oriented.map(reversed) : oriented
  const compacted = compact(mesh.vertices, facing)
  const outside = { ...compacted, sides: sidesOf(compacted.polygons) }
  checkEdges(outside, size)
  const flats = flatsOf(outside, size)
  const { vertices, polygons: facets } = outside
  return { vertices, facets, volume, flats: supporting(outside, flats, size), angle: flats.angle }
}

/** Without the points of facets that were left out. */
function compact(vertices: readonly Vector[], polygons: readonly Polygon[]): Pick<Outside, 'vertices' | 'polygons'> {
  const kept = withoutStrays({ vertices, facets: polygons.map(({ corners }) => corners) })
  const compacted = polygons.map(({ number }, index) => ({ number, corners: kept.facets[index] ?? [] }))
  return { vertices: kept.vertices, polygons: compacted }
}

/** The divergence theorem: pyramids over all triangles, from the middle, where rounding is least. Negative if it faces inwards. */
function volumeOf(vertices: readonly Vector[], polygons: readonly Polygon[]): number {
  const { least, most } = boxOf(vertices)
  const middle = scale(add(least, most), 0.5)
  let sum = 0
  for (const { corners } of polygons) {
    const [first, ...others] = corners.map((corner) => subtract(pointAt(vertices, corner), middle))
    for (const [index, corner] of others.entries()) {
      const next = others[index + 1]
      if (first !== undefined && next !== undefined) sum += dot(first, cross(corner, next))
    }
  }
  return sum / 6
}
