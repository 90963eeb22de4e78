import type { Proportions } from '../cut/proportions.ts'
import { facetThrough, radians, type Facet, type Vector } from '../solid/facet.ts'
import { wall } from './outline.ts'

const ROSE_FOLD = 6

/**
 * The full Dutch rose: a flat base with twelve sides, and 24 triangles in two rows. Six meet in the point (the crown); of the 18 below them (the
 * dentelle) six hang from the crown's edges with their tips on the girdle, and twelve stand in pairs between those
 * (antiquejewelleryinformationcenter.wordpress.com, "Dutch rose cut"; Ure, Dictionary of Arts, "diamond").
 *
 * It has no table and no pavilion: `table` is what the crown leaves of the width, `crownHeight` the upper row's height,
 * `pavilionDepth` the lower row's.
 */
export function roseFacets({ table, crownHeight, pavilionDepth, girdle, lengthToWidth }: Proportions): Facet[] {
  const place = (radius: number, step: number, height: number): Vector => {
    const angle = (step * Math.PI) / ROSE_FOLD
    return [radius * Math.cos(angle), radius * Math.sin(angle) * lengthToWidth, height]
  }
  const edge = girdle / 2
  const point: Vector = [0, 0, edge + pavilionDepth + crownHeight]
  const onCrown = (step: number) => place((1 - table) / 2, step, edge + pavilionDepth)
  const onGirdle = (step: number) => place(0.5, step, edge)
  const base: Facet = { part: 'pavilion', name: 'base', normal: [0, 0, -1], offset: edge }
  const around = Array.from({ length: ROSE_FOLD }, (_, index) => 2 * index)
  return [
    ...around.flatMap((step) => [
      facetThrough('crown', 'star', point, onCrown(step), onCrown(step + 2)),
      facetThrough('crown', 'hanging', onCrown(step), onCrown(step + 2), onGirdle(step + 1)),
      facetThrough('crown', 'standing', onCrown(step), onGirdle(step - 1), onGirdle(step)),
      facetThrough('crown', 'standing', onCrown(step), onGirdle(step), onGirdle(step + 1)),
    ]),
    ...around.flatMap((step) => [side(onGirdle(step - 1), onGirdle(step)), side(onGirdle(step), onGirdle(step + 1))]),
    base,
  ]
}

/** The wall of the girdle over one side of the base. */
function side(from: Vector, to: Vector): Facet {
  const [x, y] = [to[1] - from[1], from[0] - to[0]]
  const long = Math.hypot(x, y)
  return wall({ at: from, outward: [x / long, y / long, 0] })
}

/** Corners around the stone in each ring. */
const BRIOLETTE_FOLD = 6
/** Rings of corners on the rounded end, without the belt's lower one; the belt has two, the taper three. */
const ON_HEAD = 2
const ON_TAPER = 3

/** A facet that leans by no more than rounding belongs neither to the side that is seen nor to the one behind it. */
const UPRIGHT = 1e-9

/**
 * The briolette, seen from its side: a drop that is round across, covered by rows of triangles, each row half a step further round than the one
 * before (diamonddictionary.net, "briolette"; britannica.com, "drop cut"; profacet.com, "Briolette", which has rows of 16 kites). It lies in the plane of the
 * face, its point towards y: what looks up is the crown, and what lies behind is the pavilion. How many facets one has is not published: any drop of seven
 * rings of six corners and two ends has 84.
 */
export function brioletteFacets(proportions: Proportions): Facet[] {
  const corners = cornersOf(proportions)
  return corners
    .slice(1, -1)
    .flatMap((_, index) => Array.from({ length: BRIOLETTE_FOLD }, (_, at) => lozenge(corners, index + 1, at)).flat())
}

/** Where the drop's outline is: so far up from the middle of its belt, and so far from the axis; from the rounded end to the point. */
export type BrioletteRing = { readonly up: number; readonly radius: number }

/**
 * The rings of a drop's corners, with its two ends. The head is half of an ellipsoid; a belt stands upright around the widest place, as cutters start
 * a briolette; from there a parabola, which is upright at the belt, runs to the point.
 *
 * It has neither table nor pavilion: `table` is how far from its rounded end the belt's middle lies, as a part of its length, `girdle` the belt's height,
 * and the crown's angle half of the point's. A stone too short for that angle has a blunter point.
 */
export function brioletteRings({ lengthToWidth, table, crownHeight, girdle }: Proportions): BrioletteRing[] {
  const head = table * lengthToWidth - girdle / 2
  const taper = (1 - table) * lengthToWidth - girdle / 2
  const pointSlope = crownHeight / ((1 - table) / 2)
  const upright = Math.max(LEAST_UPRIGHT * taper, taper - 0.5 / pointSlope)
  const onHead = (part: number): BrioletteRing => ({
    up: -girdle / 2 - head * Math.cos(radians(90 * part)),
    radius: 0.5 * Math.sin(radians(90 * part)),
  })
  const onTaper = (part: number): BrioletteRing => ({
    up: girdle / 2 + 2 * part * (1 - part) * upright + part * part * taper,
    radius: 0.5 * (1 - part * part),
  })
  return [
    ...Array.from({ length: ON_HEAD + 2 }, (_, index) => onHead(index / (ON_HEAD + 1))),
    ...Array.from({ length: ON_TAPER + 2 }, (_, index) => onTaper(index / (ON_TAPER + 1))),
  ]
}

/** Less would be a cone, whose facets lie in one plane. */
const LEAST_UPRIGHT = 0.05

/** A ring's corner, by how many twelfths of a turn it is from where the face looks: every second one of them is there. */
type BrioletteCornerRing = BrioletteRing & { readonly corner: (twelfth: number) => Vector }

/** The two rings of the belt are as wide as each other, so that one reaches the stone's full width and the other one its full depth. */
function cornersOf(proportions: Proportions): BrioletteCornerRing[] {
  const { crownHeight, girdle, pavilionDepth } = proportions
  const depth = crownHeight + girdle + pavilionDepth
  return brioletteRings(proportions).map(({ up, radius }) => ({
    up,
    radius,
    corner: (twelfth) => {
      const angle = (twelfth * Math.PI) / BRIOLETTE_FOLD
      return [radius * Math.sin(angle), up, radius * depth * Math.cos(angle)]
    },
  }))
}

/**
 * The two triangles between two neighbouring corners of a ring and the one corner above and below that stands between them. Of the two ways to
 * fold such a lozenge one bulges: over the side between the neighbours where the outline bends enough, else over the line from below to above.
 */
function lozenge(rings: readonly BrioletteCornerRing[], index: number, at: number): Facet[] {
  const [below, ring, above] = [rings[index - 1], rings[index], rings[index + 1]]
  if (below === undefined || ring === undefined || above === undefined) return []
  const middle = 2 * at + (index % 2)
  const [left, right] = [ring.corner(middle - 1), ring.corner(middle + 1)]
  const [low, high] = [below.corner(middle), above.corner(middle)]
  const part = (ring.up - below.up) / (above.up - below.up)
  const straight = below.radius + part * (above.radius - below.radius)
  return ring.radius * Math.cos(Math.PI / BRIOLETTE_FOLD) > straight
    ? [triangle('lower', low, left, right), triangle('upper', high, left, right)]
    : [triangle('left', low, high, left), triangle('right', low, high, right)]
}

function triangle(name: string, a: Vector, b: Vector, c: Vector): Facet {
  const facet = facetThrough('girdle', name, a, b, c)
  const up = facet.normal[2]
  return Math.abs(up) < UPRIGHT ? facet : { ...facet, part: up > 0 ? 'crown' : 'pavilion' }
}
