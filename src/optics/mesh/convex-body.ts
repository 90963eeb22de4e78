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
  if (volume < MIN_VOLUME_RATIO * size ** 3) throw new InvalidMesh(`The body is flat: its volume is ${volume} mm³`)
  const outwardPolygons = signed < 0 ? oriented.map(reverseWinding) : oriented
  const compacted = compact(mesh.vertices, outwardPolygons)
  const surface = { ...compacted, halfEdges: toHalfEdges(compacted.polygons) }
  checkEdges(surface, size)
  const planarRegions = findPlanarRegions(surface, size)
  const { vertices, polygons: facets } = surface
  return {
    vertices,
    facets,
    volume,
    regions: toSupportingPlanes(surface, planarRegions, size),
    angle: planarRegions.angle,
  }
}

/** Millimetres. The smallest cut diamonds are ten times as large. */
const SMALLEST = 0.05

type Surface = { readonly polygons: readonly Polygon[]; readonly halfEdges: HalfEdges }

/**
 * Orients all facets of a closed surface like the first one, so that they all face outwards or all inwards.
 * @throws InvalidMesh if the facets are not connected, or the surface is not orientable
 */
function orientConsistently({ polygons, halfEdges }: Surface): Polygon[] {
  const { first, facet, from, twin } = halfEdges
  const orientations = new Int8Array(polygons.length).fill(-1)
  orientations[0] = 0
  const stack = [0]
  for (let current = stack.pop(); current !== undefined; current = stack.pop()) {
    for (let halfEdge = first[current] ?? 0; halfEdge < (first[current + 1] ?? 0); halfEdge++) {
      const opposite = twin[halfEdge] ?? 0
      const other = facet[opposite] ?? 0
      // Facets with the same orientation traverse their common edge in opposite directions.
      const orientation = (orientations[current] ?? 0) ^ (from[halfEdge] === from[opposite] ? 1 : 0)
      if (orientations[other] === -1) stack.push(other)
      else if (orientations[other] !== orientation) throw notOrientableError(polygons, current, other)
      orientations[other] = orientation
    }
  }
  const unreachedFacet = orientations.indexOf(-1)
  if (unreachedFacet >= 0) throw disconnectedError(polygons, unreachedFacet)
  return polygons.map((polygon, index) => (orientations[index] === 1 ? reverseWinding(polygon) : polygon))
}

function notOrientableError(polygons: readonly Polygon[], a: number, b: number): InvalidMesh {
  const numbers = [a, b].map((facet) => polygons[facet]?.number)
  return new InvalidMesh(`The surface has no inside: facets ${numbers.join(' and ')} cannot be oriented consistently`)
}

function disconnectedError(polygons: readonly Polygon[], unreachedFacet: number): InvalidMesh {
  const [first, other] = [polygons[0]?.number, polygons[unreachedFacet]?.number]
  return new InvalidMesh(`The file contains more than one body: facet ${other} is not connected to facet ${first}`)
}

const reverseWinding = ({ number, corners }: Polygon): Polygon => ({ number, corners: corners.toReversed() })

/**
 * The facets of a mesh if every edge joins exactly two of them. Degenerate facets are kept if the surface needs them to be closed
 * (for a vertex on a straight edge), and left out if it is closed without them.
 * @param maxThickness thickness in millimetres up to which a facet is degenerate
 * @throws InvalidMesh if an edge has one facet, or more than two
 */
function closedSurface({ vertices, facets }: Mesh, maxThickness: number): Surface {
  const polygons = facets
    .map((corners, index) => ({ number: index + 1, corners }))
    .filter(({ corners }) => corners.length > 2)
  const fullSurface = surfaceOf(polygons)
  if (isClosed(fullSurface)) return fullSurface
  const withoutDegenerate = surfaceOf(
    polygons.filter(({ corners }) => fitPlane(vertices, corners).thickness > maxThickness),
  )
  if (isClosed(withoutDegenerate)) return withoutDegenerate
  throw new InvalidMesh(faultOf(fullSurface, vertices))
}

const surfaceOf = (polygons: readonly Polygon[]): Surface => ({ polygons, halfEdges: toHalfEdges(polygons) })

const isClosed = ({ halfEdges: { twin, nonManifold } }: Surface): boolean => nonManifold < 0 && !twin.includes(-1)

function faultOf({ polygons, halfEdges }: Surface, vertices: Mesh['vertices']): string {
  const { facet, from, to, twin, nonManifold } = halfEdges
  const halfEdge = nonManifold < 0 ? twin.indexOf(-1) : nonManifold
  const ends = [from, to].map((corners) => formatPoint(pointAt(vertices, corners[halfEdge] ?? 0)))
  const location = `at the edge from ${ends.join(' to ')}`
  const number = polygons[facet[halfEdge] ?? 0]?.number
  return nonManifold < 0
    ? `The body is open ${location}, where facet ${number} ends`
    : `More than two facets meet ${location}, one of them facet ${number}; every edge must join two`
}

/** By the divergence theorem: pyramids over all triangles, from the centre, to limit rounding errors. Negative if facets face inwards. */
function volumeOf(vertices: readonly Vector[], polygons: readonly Polygon[]): number {
  const { min, max } = boundingBox(vertices)
  const middle = scale(add(min, max), 0.5)
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

/** Minimum volume as a fraction of the size cubed. */
const MIN_VOLUME_RATIO = 1e-6

function compact(
  vertices: readonly Vector[],
  polygons: readonly Polygon[],
): Pick<OrientedSurface, 'vertices' | 'polygons'> {
  const compactMesh = withoutUnusedVertices({ vertices, facets: polygons.map(({ corners }) => corners) })
  const compacted = polygons.map(({ number }, index) => ({ number, corners: compactMesh.facets[index] ?? [] }))
  return { vertices: compactMesh.vertices, polygons: compacted }
}

/**
 * Checks that a closed, connected surface can bound a convex body: it has no hole through it, its facets are flat, and no edge is
 * concave.
 * @param size diagonal of the bounding box in millimetres
 * @throws InvalidMesh
 */
function checkEdges(surface: OrientedSurface, size: number): void {
  checkEulerCharacteristic(surface)
  const fits = surface.polygons.map(({ corners }) => fitPlane(surface.vertices, corners))
  for (const [index, polygon] of surface.polygons.entries())
    checkFlat(surface, polygon, fits[index], FLATNESS_TOLERANCE * size)
  const { facet, twin } = surface.halfEdges
  for (const [halfEdge, index] of facet.entries()) {
    const fit = fits[index]
    const other = facet[twin[halfEdge] ?? halfEdge] ?? index
    // Of two neighbours, the plane of the thicker facet is known more precisely.
    if (fit === undefined || fit.thickness < (fits[other]?.thickness ?? 0)) continue
    const highCorner = surface.polygons[other]?.corners.find((corner) => {
      const point = pointAt(surface.vertices, corner)
      return heightAbove(fit, point) > maxHeight(size, fit.thickness, length(subtract(point, fit.middle)))
    })
    if (highCorner !== undefined) throw concaveEdgeError(surface, halfEdge, fit, highCorner)
  }
}

/** Euler characteristic: vertices - edges + facets is 2 for a sphere and 0 for a torus. */
function checkEulerCharacteristic({ polygons, halfEdges: { from } }: OrientedSurface): void {
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
  const offCorner = corners.find((corner) => Math.abs(heightAbove(fit, pointAt(vertices, corner))) > tolerance)
  if (offCorner === undefined) return
  const point = pointAt(vertices, offCorner)
  const distance = roundToMicrometres(Math.abs(heightAbove(fit, point)))
  throw new InvalidMesh(`Facet ${number} is not flat: its corner ${formatPoint(point)} is ${distance} mm off its plane`)
}

/** Tolerance for the flatness of facets and for points above planes, as a fraction of the size: the effect of three decimals. */
const FLATNESS_TOLERANCE = 2e-4

/** How far a point at this `distance` may be above the plane of facets that are `width` wide. Millimetres. */
const maxHeight = (size: number, width: number, distance: number): number =>
  size * (FLATNESS_TOLERANCE + (width > 0 ? (ROUNDING_DISPLACEMENT * distance) / width : Infinity))

/** How far rounding to three decimals moves points, as a fraction of the size. It tilts a plane the more, the narrower its facet is. */
const ROUNDING_DISPLACEMENT = 1.2e-4

function concaveEdgeError(
  { vertices, polygons, halfEdges }: OrientedSurface,
  halfEdge: number,
  fit: PlaneFit,
  highCorner: number,
): InvalidMesh {
  const { facet, from, to, twin } = halfEdges
  const [own, other] = [halfEdge, twin[halfEdge] ?? halfEdge].map((index) => polygons[facet[index] ?? 0]?.number)
  const ends = [from, to].map((corners) => formatPoint(pointAt(vertices, corners[halfEdge] ?? 0)))
  const point = pointAt(vertices, highCorner)
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
  surface: OrientedSurface,
  { regions, factor }: PlanarRegions,
  size: number,
): PlanarRegion[] {
  return regions.map((region) => {
    const cornerIndices = region.members.flatMap((member) => surface.polygons[member]?.corners ?? [])
    const corners = cornerIndices.map((corner) => pointAt(surface.vertices, corner))
    const highest = highestOf(surface.vertices, region.normal)
    const lift = dot(pointAt(surface.vertices, highest), region.normal) - heightOf(corners, region.normal)
    const { min, max } = boundingBox(corners)
    const width = region.area / length(subtract(max, min))
    if (lift > factor * maxHeight(size, width, size)) throw notConvexError(surface, region, highest, lift)
    return { ...region, offset: region.offset + lift }
  })
}

function highestOf(vertices: readonly Vector[], normal: Vector): number {
  let best = 0
  let height = -Infinity
  for (const [index, vertex] of vertices.entries()) {
    const vertexHeight = dot(vertex, normal)
    if (vertexHeight > height) [best, height] = [index, vertexHeight]
  }
  return best
}

const heightOf = (corners: readonly Vector[], normal: Vector): number =>
  corners.reduce((highest, corner) => Math.max(highest, dot(corner, normal)), -Infinity)

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
