import { heightAbove, fitPlane, InvalidMesh, pointAt, type PlaneFit, type Polygon } from './mesh.ts'
import type { HalfEdges } from './half-edges.ts'
import { add, dot, radians, scale, unit, type Vector } from '../solid/facet.ts'

/** A plane shared by neighbouring facets, which together stand for one facet of the stone. `members`: facet indices. Millimetres. */
export type PlanarRegion = {
  readonly normal: Vector
  readonly offset: number
  readonly area: number
  readonly members: readonly number[]
}

/** More planes would take longer than some seconds to trace. A brilliant has about 120, including its girdle. */
const MAX_REGIONS = 600

/** A facet joins a region if its angle in degrees is below this, or the distance of all its corners, as a fraction of the size, is. */
const ANGLE = 0.05
/** Rounding to three decimals moves a corner of a small stone this far, and can tilt a narrow facet by any angle. */
const DISTANCE = 1.2e-4

/** The tolerance is then 26°, at which sixty planes approximate a sphere. */
const MAX_FACTOR = 512

export type OrientedSurface = {
  readonly vertices: readonly Vector[]
  readonly polygons: readonly Polygon[]
  readonly halfEdges: HalfEdges
}

/** The planes and the tolerance for their facets: `angle` in degrees, `factor` in multiples of the initial tolerances. */
export type PlanarRegions = {
  readonly regions: readonly PlanarRegion[]
  readonly angle: number
  readonly factor: number
}

/**
 * Merges neighbouring facets in nearly the same plane. Doubles the tolerances until there are at most MAX_REGIONS planes.
 * @param size diagonal of the bounding box in millimetres
 * @throws InvalidMesh if that fails up to the largest tolerance, which cannot happen for a convex body
 */
export function findPlanarRegions(surface: OrientedSurface, size: number): PlanarRegions {
  const fits = surface.polygons.map(({ corners }) => fitPlane(surface.vertices, corners))
  const order = [...fits.keys()].sort((a, b) => (fits[b]?.area ?? 0) - (fits[a]?.area ?? 0))
  for (let factor = 1; factor <= MAX_FACTOR; factor *= 2) {
    const angle = ANGLE * factor
    const regions = growRegions(surface, fits, order, {
      cosine: Math.cos(radians(angle)),
      distance: DISTANCE * factor * size,
    })
    if (regions !== undefined) return { regions, angle, factor }
  }
  throw new InvalidMesh(`The body is not convex: its facets do not fit ${MAX_REGIONS} planes`)
}

type Tolerance = { readonly cosine: number; readonly distance: number }

/** Grows regions around the largest facets first; undefined if there are too many. */
function growRegions(
  surface: OrientedSurface,
  fits: readonly PlaneFit[],
  order: readonly number[],
  { cosine, distance }: Tolerance,
): PlanarRegion[] | undefined {
  const isAssigned = new Uint8Array(fits.length)
  const fitsRegion = (index: number, region: PlanarRegion) =>
    dot(fits[index]?.normal ?? region.normal, region.normal) > cosine ||
    (surface.polygons[index]?.corners ?? []).every(
      (corner) => Math.abs(heightAbove(region, pointAt(surface.vertices, corner))) < distance,
    )
  const regions: PlanarRegion[] = []
  for (const seed of order) {
    if (isAssigned[seed] === 1) continue
    const region = growRegion(seed, surface.halfEdges, fits, isAssigned, fitsRegion)
    if (region.area > 0) regions.push(region)
    if (regions.length > MAX_REGIONS) return undefined
  }
  return regions
}

/** Grows a region from one facet, nearest neighbours first. Its plane is the area-weighted mean of its facets so far. */
function growRegion(
  seed: number,
  { first, facet, twin }: HalfEdges,
  fits: readonly PlaneFit[],
  isAssigned: Uint8Array,
  fitsRegion: (facet: number, region: PlanarRegion) => boolean,
): PlanarRegion {
  const members = [seed]
  let mean = newMean
  let region: PlanarRegion = { normal: [0, 0, 0], offset: 0, area: 0, members }
  isAssigned[seed] = 1
  for (const index of members) {
    mean = withFit(mean, fits[index])
    region = { ...planeOf(mean, region), area: mean.area, members }
    for (let halfEdge = first[index] ?? 0; halfEdge < (first[index + 1] ?? 0); halfEdge++) {
      const other = facet[twin[halfEdge] ?? halfEdge] ?? index
      if (isAssigned[other] === 1 || !fitsRegion(other, region)) continue
      isAssigned[other] = 1
      members.push(other)
    }
  }
  return region
}

type WeightedPlaneSum = { readonly normals: Vector; readonly middles: Vector; readonly area: number }
const newMean: WeightedPlaneSum = { normals: [0, 0, 0], middles: [0, 0, 0], area: 0 }

function withFit(mean: WeightedPlaneSum, fit: PlaneFit | undefined): WeightedPlaneSum {
  if (fit === undefined) return mean
  const { normal, middle, area } = fit
  return {
    normals: add(mean.normals, scale(normal, area)),
    middles: add(mean.middles, scale(middle, area)),
    area: mean.area + area,
  }
}

function planeOf(
  { normals, middles, area }: WeightedPlaneSum,
  before: PlanarRegion,
): { normal: Vector; offset: number } {
  if (area === 0) return before
  const normal = unit(normals)
  return { normal, offset: dot(normal, middles) / area }
}
