import { above, fitOf, NoStone, pointAt, type Fit, type Polygon } from './mesh.ts'
import type { Sides } from './sides.ts'
import { add, dot, radians, scale, unit, type Vector } from '../solid/facet.ts'

/** A plane that neighbouring facets share, as the facet of the stone that they stand for; `members` are indices. Millimetres. */
export type Flat = {
  readonly normal: Vector
  readonly offset: number
  readonly area: number
  readonly members: readonly number[]
}

/** What is traced in seconds. A brilliant has about 120 planes, its girdle's included. */
const MOST_FLATS = 600

/** How unlike a flat a facet may be: by its angle in degrees, or by the distance of all its corners in parts of the size. */
const ANGLE = 0.05
/** Rounding to three decimals moves a corner of a small stone as far, and turns a narrow facet by any angle. */
const DISTANCE = 1.2e-4

/** Neighbours within 26° are taken together then: sixty planes would do for a ball. */
const MOST_FACTOR = 512

export type Outside = {
  readonly vertices: readonly Vector[]
  readonly polygons: readonly Polygon[]
  readonly sides: Sides
}

/** Flats and by how much facets of one may differ: in degrees, and as times the usual tolerances. */
export type Flats = { readonly flats: readonly Flat[]; readonly angle: number; readonly factor: number }

/**
 * The planes of a surface's facets, neighbours in nearly one plane taken together; tolerances double until there are no more
 * than MOST_FLATS.
 * @param size of the whole, in millimetres
 * @throws NoStone where neighbours differ too much for that: in a convex body no facet is far from all of so many planes
 */
export function flatsOf(outside: Outside, size: number): Flats {
  const fits = outside.polygons.map(({ corners }) => fitOf(outside.vertices, corners))
  const order = [...fits.keys()].sort((a, b) => (fits[b]?.area ?? 0) - (fits[a]?.area ?? 0))
  for (let factor = 1; factor <= MOST_FACTOR; factor *= 2) {
    const angle = ANGLE * factor
    const flats = grown(outside, fits, order, { cosine: Math.cos(radians(angle)), distance: DISTANCE * factor * size })
    if (flats !== undefined) return { flats, angle, factor }
  }
  throw new NoStone(`The body is not convex: its facets are too crumpled to lie in ${MOST_FLATS} planes`)
}

type Tolerance = { readonly cosine: number; readonly distance: number }

/** Flats grow around the largest facets first; undefined when there are too many. */
function grown(
  outside: Outside,
  fits: readonly Fit[],
  order: readonly number[],
  { cosine, distance }: Tolerance,
): Flat[] | undefined {
  const taken = new Uint8Array(fits.length)
  const lies = (index: number, flat: Flat) =>
    dot(fits[index]?.normal ?? flat.normal, flat.normal) > cosine ||
    (outside.polygons[index]?.corners ?? []).every(
      (corner) => Math.abs(above(flat, pointAt(outside.vertices, corner))) < distance,
    )
  const flats: Flat[] = []
  for (const seed of order) {
    if (taken[seed] === 1) continue
    const flat = flatAround(seed, outside.sides, fits, taken, lies)
    if (flat.area > 0) flats.push(flat)
    if (flats.length > MOST_FLATS) return undefined
  }
  return flats
}

/** A flat from one facet outwards, nearest neighbours first; its plane is the mean of what it has so far, by area. */
function flatAround(
  seed: number,
  { first, facet, twin }: Sides,
  fits: readonly Fit[],
  taken: Uint8Array,
  lies: (facet: number, flat: Flat) => boolean,
): Flat {
  const members = [seed]
  let mean = newMean
  let flat: Flat = { normal: [0, 0, 0], offset: 0, area: 0, members }
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
type Mean = { readonly normals: Vector; readonly middles: Vector; readonly area: number }
const newMean: Mean = { normals: [0, 0, 0], middles: [0, 0, 0], area: 0 }

function withFit(mean: Mean, fit: Fit | undefined): Mean {
  if (fit === undefined) return mean
  const { normal, middle, area } = fit
  return {
    normals: add(mean.normals, scale(normal, area)),
    middles: add(mean.middles, scale(middle, area)),
    area: mean.area + area,
  }
}

function planeOf({ normals, middles, area }: Mean, before: Flat): { normal: Vector; offset: number } {
  if (area === 0) return before
  const normal = unit(normals)
  return { normal, offset: dot(normal, middles) / area }
}
