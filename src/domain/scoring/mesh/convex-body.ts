import { add, cross, dot, length, scale, subtract, type Vector } from '../solid/facet.ts'
import { findPlanarRegions, type PlanarRegion, type PlanarRegions, type OrientedSurface } from './planar-regions.ts'
import {
  heightAbove,
  boundingBox,
  fitPlane,
  formatPoint,
  InvalidMesh,
  pointAt,
  roundToMicrometres,
  diagonalOf,
  withoutUnusedVertices,
  type PlaneFit,
  type Mesh,
  type Polygon,
} from './mesh.ts'
import { toHalfEdges, type HalfEdges } from './half-edges.ts'
import { WELD } from './weld.ts'

export type Surface = { readonly polygons: readonly Polygon[]; readonly sides: HalfEdges }

/**
 * The facets of a mesh if every edge joins exactly two of them. Degenerate facets are kept if the surface needs them to be closed
 * (for a vertex on a straight edge), and left out if it is closed without them.
 * @param flat thickness in millimetres up to which a facet is degenerate
 * @throws InvalidMesh if an edge has one facet, or more than two
 */
function closedSurface({ vertices, facets }: Mesh, flat: number): Surface {
  const all = facets
    .map((corners, index) => ({ number: index + 1, corners }))
    .filter(({ corners }) => corners.length > 2)
  const whole = surfaceOf(all)
  if (isClosed(whole)) return whole
  const rest = surfaceOf(all.filter(({ corners }) => fitPlane(vertices, corners).thickness > flat))
  if (isClosed(rest)) return rest
  throw new InvalidMesh(faultOf(whole, vertices))
}

const surfaceOf = (polygons: readonly Polygon[]): Surface => ({ polygons, sides: toHalfEdges(polygons) })
const isClosed = ({ sides: { twin, crowded } }: Surface): boolean => crowded < 0 && !twin.includes(-1)

function faultOf({ polygons, sides }: Surface, vertices: Mesh['vertices']): string {
  const { facet, from, to, twin, crowded } = sides
  const side = crowded < 0 ? twin.indexOf(-1) : crowded
  const ends = [from, to].map((corners) => formatPoint(pointAt(vertices, corners[side] ?? 0)))
  const place = `at the edge from ${ends.join(' to ')}`
  const number = polygons[facet[side] ?? 0]?.number
  return crowded < 0
    ? `The body is open ${place}, where facet ${number} ends`
    : `More than two facets meet ${place}, one of them facet ${number}; every edge must join two`
}

/**
 * Orients all facets of a closed surface like the first one, so that they all face outwards or all inwards.
 * @throws InvalidMesh if the facets are not connected, or the surface is not orientable
 */
function orientConsistently({ polygons, sides }: Surface): Polygon[] {
  const { first, facet, from, twin } = sides
  const turned = new Int8Array(polygons.length).fill(-1)
  turned[0] = 0
  const waiting = [0]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (let side = first[next] ?? 0; side < (first[next + 1] ?? 0); side++) {
      const across = twin[side] ?? 0
      const other = facet[across] ?? 0
      // Facets with the same orientation traverse their common edge in opposite directions.
      const turn = (turned[next] ?? 0) ^ (from[side] === from[across] ? 1 : 0)
      if (turned[other] === -1) waiting.push(other)
      else if (turned[other] !== turn) throw oneSided(polygons, next, other)
      turned[other] = turn
    }
  }
  const apart = turned.indexOf(-1)
  if (apart >= 0) throw inPieces(polygons, apart)
  return polygons.map((polygon, index) => (turned[index] === 1 ? reverseWinding(polygon) : polygon))
}

const reverseWinding = ({ number, corners }: Polygon): Polygon => ({ number, corners: corners.toReversed() })

function oneSided(polygons: readonly Polygon[], a: number, b: number): InvalidMesh {
  const numbers = [a, b].map((facet) => polygons[facet]?.number)
  return new InvalidMesh(`The surface has no inside: facets ${numbers.join(' and ')} cannot be oriented consistently`)
}

function inPieces(polygons: readonly Polygon[], apart: number): InvalidMesh {
  const [first, other] = [polygons[0]?.number, polygons[apart]?.number]
  return new InvalidMesh(`The file contains more than one body: facet ${other} is not connected to facet ${first}`)
}

/** Tolerance for the flatness of facets and for points above planes, as a fraction of the size: the effect of three decimals. */
const BENT = 2e-4
/** How far rounding to three decimals moves points, as a fraction of the size. It tilts a plane the more, the narrower its facet is. */
const MOVED = 1.2e-4

/** How far a point at distance `far` may be above the plane of facets that are `narrow` wide. Millimetres. */
const allowed = (size: number, narrow: number, far: number): number =>
  size * (BENT + (narrow > 0 ? (MOVED * far) / narrow : Infinity))

/**
 * Checks that a closed, connected surface can bound a convex body: it has no hole through it, its facets are flat, and no edge is
 * concave.
 * @param size diagonal of the bounding box in millimetres
 * @throws InvalidMesh
 */
function checkEdges(outside: OrientedSurface, size: number): void {
  checkEulerCharacteristic(outside)
  const fits = outside.polygons.map(({ corners }) => fitPlane(outside.vertices, corners))
  for (const [index, polygon] of outside.polygons.entries()) checkFlat(outside, polygon, fits[index], BENT * size)
  const { facet, twin } = outside.sides
  for (const [side, index] of facet.entries()) {
    const fit = fits[index]
    const other = facet[twin[side] ?? side] ?? index
    // Of two neighbours, the plane of the thicker facet is known more precisely.
    if (fit === undefined || fit.thickness < (fits[other]?.thickness ?? 0)) continue
    const high = outside.polygons[other]?.corners.find((corner) => {
      const point = pointAt(outside.vertices, corner)
      return heightAbove(fit, point) > allowed(size, fit.thickness, length(subtract(point, fit.middle)))
    })
    if (high !== undefined) throw concaveEdgeError(outside, side, fit, high)
  }
}

/** Euler characteristic: vertices - edges + facets is 2 for a sphere and 0 for a torus. */
function checkEulerCharacteristic({ polygons, sides: { from } }: OrientedSurface): void {
  const number = new Set(from).size - from.length / 2 + polygons.length
  if (number === 2) return
  throw new InvalidMesh(`The body has a hole or touches itself: vertices - edges + facets must be 2, got ${number}`)
}

function checkFlat(
  { vertices }: OrientedSurface,
  { number, corners }: Polygon,
  fit: PlaneFit | undefined,
  tolerance: number,
): void {
  if (fit === undefined) return
  const off = corners.find((corner) => Math.abs(heightAbove(fit, pointAt(vertices, corner))) > tolerance)
  if (off === undefined) return
  const point = pointAt(vertices, off)
  const distance = roundToMicrometres(Math.abs(heightAbove(fit, point)))
  throw new InvalidMesh(`Facet ${number} is not flat: its corner ${formatPoint(point)} is ${distance} mm off its plane`)
}

function concaveEdgeError(
  { vertices, polygons, sides }: OrientedSurface,
  side: number,
  fit: PlaneFit,
  high: number,
): InvalidMesh {
  const { facet, from, to, twin } = sides
  const [own, other] = [side, twin[side] ?? side].map((place) => polygons[facet[place] ?? 0]?.number)
  const ends = [from, to].map((corners) => formatPoint(pointAt(vertices, corners[side] ?? 0)))
  const point = pointAt(vertices, high)
  return new InvalidMesh(
    `The body is not convex at the edge from ${ends.join(' to ')}: facet ${other} rises ${roundToMicrometres(heightAbove(fit, point))} mm ` +
      `above the plane of facet ${own}, at ${formatPoint(point)}`,
  )
}

/**
 * Moves the planes of a convex body outwards until no point is above any of them, since rounding may have tilted narrow ones. Also
 * detects what edges alone do not show: a star, all of whose edges are convex, or a dent made of many small facets.
 * @throws InvalidMesh if a plane is not on the outside of the body
 */
function toSupportingPlanes(
  outside: OrientedSurface,
  { regions, factor }: PlanarRegions,
  size: number,
): PlanarRegion[] {
  return regions.map((flat) => {
    const own = flat.members.flatMap((member) => outside.polygons[member]?.corners ?? [])
    const corners = own.map((corner) => pointAt(outside.vertices, corner))
    const highest = highestOf(outside.vertices, flat.normal)
    const lift = dot(pointAt(outside.vertices, highest), flat.normal) - heightOf(corners, flat.normal)
    const { least, most } = boundingBox(corners)
    const narrow = flat.area / length(subtract(most, least))
    if (lift > factor * allowed(size, narrow, size)) throw notConvexError(outside, flat, highest, lift)
    return { ...flat, offset: flat.offset + lift }
  })
}

function highestOf(vertices: readonly Vector[], normal: Vector): number {
  let best = 0
  let height = -Infinity
  for (const [index, vertex] of vertices.entries()) {
    const own = dot(vertex, normal)
    if (own > height) [best, height] = [index, own]
  }
  return best
}

const heightOf = (corners: readonly Vector[], normal: Vector): number =>
  corners.reduce((most, corner) => Math.max(most, dot(corner, normal)), -Infinity)

function notConvexError(
  { vertices, polygons }: OrientedSurface,
  { members }: PlanarRegion,
  highest: number,
  lift: number,
): InvalidMesh {
  const number = polygons[members[0] ?? 0]?.number
  return new InvalidMesh(
    `The body is not convex: ${formatPoint(pointAt(vertices, highest))} is ${roundToMicrometres(lift)} mm above facet ${number} and its plane`,
  )
}

/** A closed convex body: flat facets with their corners counter-clockwise as seen from outside. Millimetres. */
export type ConvexBody = {
  readonly vertices: readonly Vector[]
  readonly facets: readonly Polygon[]
  /** In mm³, exact for the given facets. */
  readonly volume: number
  /** Supporting planes; facets in nearly the same plane share one. */
  readonly regions: readonly PlanarRegion[]
  /** Angle in degrees within which neighbouring facets were merged into one plane. */
  readonly angle: number
}

/** Minimum volume as a fraction of the size cubed. */
const FLAT = 1e-6
/** Millimetres. The smallest cut diamonds are ten times as large. */
const SMALLEST = 0.05

/**
 * The convex body that a mesh bounds. Facets that face inwards are turned.
 * @param mesh with welded vertices, and without unused ones
 * @throws InvalidMesh if the mesh is open, in pieces, not convex or degenerate
 */
export function toConvexBody(mesh: Mesh): ConvexBody {
  const size = diagonalOf(mesh.vertices)
  if (!(size >= SMALLEST)) throw new InvalidMesh(`The body must be at least ${SMALLEST} mm across, got ${size}`)
  if (mesh.facets.length < 4) throw new InvalidMesh(`The body must have at least 4 facets, got ${mesh.facets.length}`)
  const oriented = orientConsistently(closedSurface(mesh, WELD * size))
  const signed = volumeOf(mesh.vertices, oriented)
  const volume = Math.abs(signed)
  if (volume < FLAT * size ** 3) throw new InvalidMesh(`The body is flat: its volume is ${volume} mm³`)
  const facing = signed < 0 ? oriented.map(reverseWinding) : oriented
  const compacted = compact(mesh.vertices, facing)
  const outside = { ...compacted, sides: toHalfEdges(compacted.polygons) }
  checkEdges(outside, size)
  const flats = findPlanarRegions(outside, size)
  const { vertices, polygons: facets } = outside
  return { vertices, facets, volume, regions: toSupportingPlanes(outside, flats, size), angle: flats.angle }
}

function compact(
  vertices: readonly Vector[],
  polygons: readonly Polygon[],
): Pick<OrientedSurface, 'vertices' | 'polygons'> {
  const kept = withoutUnusedVertices({ vertices, facets: polygons.map(({ corners }) => corners) })
  const compacted = polygons.map(({ number }, index) => ({ number, corners: kept.facets[index] ?? [] }))
  return { vertices: kept.vertices, polygons: compacted }
}

/** By the divergence theorem: pyramids over all triangles, from the centre, to limit rounding errors. Negative if facets face inwards. */
function volumeOf(vertices: readonly Vector[], polygons: readonly Polygon[]): number {
  const { least, most } = boundingBox(vertices)
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
