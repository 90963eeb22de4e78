import { heightAbove, fitPlane, InvalidMesh, pointAt, type PlaneFit, type Polygon } from './mesh.ts'
import type { HalfEdges } from './half-edges.ts'
import { add, dot, radians, scale, unit, type Vector } from '../solid/facet.ts'

/** A plane that neighbouring facets share, as the facet of the stone that they stand for; `members` are indices. Millimetres. */
export type PlanarRegion = {
  readonly normal: Vector
  readonly offset: number
  readonly area: number
  readonly members: readonly number[]
}

/** What is traced in seconds. A brilliant has about 120 planes, its girdle's included. */
const MAX_REGIONS = 600

/** How unlike a flat a facet may be: by its angle in degrees, or by the distance of all its corners in parts of the size. */
const ANGLE = 0.05
/** Rounding to three decimals moves a corner of a small stone as far, and turns a narrow facet by any angle. */
const DISTANCE = 1.2e-4

/** Neighbours within 26° are taken together then: sixty planes would do for a ball. */
const MOST_FACTOR = 512

export type OrientedSurface = {
  readonly vertices: readonly Vector[]
  readonly polygons: readonly Polygon[]
  readonly sides: HalfEdges
}

/** Flats and by how much facets of one may differ: in degrees, and as times the usual tolerances. */
export type PlanarRegions = {
  readonly regions: readonly PlanarRegion[]
  readonly angle: number
  readonly factor: number
}

/**
 * The planes of a surface's facets, neighbours in nearly one plane taken together; tolerances double until there are no more
 * than MOST_FLATS.
 * @param size of the whole, in millimetres
 * @throws NoStone where neighbours differ too much for that: in a convex body no facet is far from all of so many planes
 */
export function findPlanarRegions(outside: OrientedSurface, size: number): PlanarRegions {
  const fits = outside.polygons.map(({ corners }) => fitPlane(outside.vertices, corners))
  const order = [...fits.keys()].sort((a, b) => (fits[b]?.area ?? 0) - (fits[a]?.area ?? 0))
  for (let factor = 1; factor <= MOST_FACTOR; factor *= 2) {
    const angle = ANGLE * factor
    const flats = growRegions(outside, fits, order, {
      cosine: Math.cos(radians(angle)),
      distance: DISTANCE * factor * size,
    })
    if (flats !== undefined) return { regions: flats, angle, factor }
  }
  throw new InvalidMesh(`The body is not convex: its facets are too crumpled to lie in ${MAX_REGIONS} planes`)
}

type Tolerance = { readonly cosine: number; readonly distance: number }

/** Flats grow around the largest facets first; undefined when there are too many. */
function growRegions(
  outside: OrientedSurface,
  fits: readonly PlaneFit[],
  order: readonly number[],
  { cosine, distance }: Tolerance,
): PlanarRegion[] | undefined {
  const taken = new Uint8Array(fits.length)
  const lies = (index: number, flat: PlanarRegion) =>
    dot(fits[index]?.normal ?? flat.normal, flat.normal) > cosine ||
    (outside.polygons[index]?.corners ?? []).every(
      (corner) => Math.abs(heightAbove(flat, pointAt(outside.vertices, corner))) < distance,
    )
  const flats: PlanarRegion[] = []
  for (const seed of order) {
    if (taken[seed] === 1) continue
    const flat = growRegion(seed, outside.sides, fits, taken, lies)
    if (flat.area > 0) flats.push(flat)
    if (flats.length > MAX_REGIONS) return undefined
  }
  return flats
}

/** A flat from one facet outwards, nearest neighbours first; its plane is the mean of what it has so far, by area. */
function growRegion(
  seed: number,
  { first, facet, twin }: HalfEdges,
  fits: readonly PlaneFit[],
  taken: Uint8Array,
  lies: (facet: number, flat: PlanarRegion) => boolean,
): PlanarRegion {
  const members = [seed]
  let mean = newMean
  let flat: PlanarRegion = { normal: [0, 0, 0], offset: 0, area: 0, members }
  taken[seed] = 1
  for (const index of members) {
    mean = withFit(mean, fits[index])
    flat = { ...planeOf(mean, flat), area: mean.area, members }
    for (let side = first[index] ?? 0; side < (first[index + 1] ?? 0); side++) {
      const other = facet[twin[side] ?? side] ?? index
      if (taken[other] === 1 || !lies(other, flat)) continue
      taken[other] = 1
      members.push(other)
    }
  }
  return flat
}

/** Sums over facets, weighted by area. */
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
