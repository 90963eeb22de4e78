import type { Proportions } from '../cut/proportions.ts'
import { facetThrough, radians, type Facet, type Vector } from '../solid/facet.ts'
import { wall } from './outline.ts'

const ROSE_FOLD = 6

/**
 * The full Dutch rose: a flat base with twelve sides and 24 triangles in two rows. The upper row (crown) has six triangles that meet in
 * the apex. The lower row (dentelle) has 18: six hang from the crown's edges with their tips on the girdle, and twelve stand in pairs
 * between those (antiquejewelleryinformationcenter.wordpress.com, "Dutch rose cut"; Ure, Dictionary of Arts, "diamond").
 *
 * It has no table and no pavilion: `table` is the part of the width outside the crown, `crownHeight` the height of the upper row,
 * `pavilionDepth` that of the lower row.
 */
export function roseFacets({ table, crownHeight, pavilionDepth, girdle, lengthToWidth }: Proportions): Facet[] {
  const cornerAt = (radius: number, step: number, height: number): Vector => {
    const angle = (step * Math.PI) / ROSE_FOLD
    return [radius * Math.cos(angle), radius * Math.sin(angle) * lengthToWidth, height]
  }
  const edge = girdle / 2
  const point: Vector = [0, 0, edge + pavilionDepth + crownHeight]
  const onCrown = (step: number) => cornerAt((1 - table) / 2, step, edge + pavilionDepth)
  const onGirdle = (step: number) => cornerAt(0.5, step, edge)
  const base: Facet = { part: 'pavilion', name: 'base', normal: [0, 0, -1], offset: edge }
  const evenSteps = Array.from({ length: ROSE_FOLD }, (_, index) => 2 * index)
  return [
    ...evenSteps.flatMap((step) => [
      facetThrough('crown', 'star', point, onCrown(step), onCrown(step + 2)),
      facetThrough('crown', 'hanging', onCrown(step), onCrown(step + 2), onGirdle(step + 1)),
      facetThrough('crown', 'standing', onCrown(step), onGirdle(step - 1), onGirdle(step)),
      facetThrough('crown', 'standing', onCrown(step), onGirdle(step), onGirdle(step + 1)),
    ]),
    ...evenSteps.flatMap((step) => [
      side(onGirdle(step - 1), onGirdle(step)),
      side(onGirdle(step), onGirdle(step + 1)),
    ]),
    base,
  ]
}

function side(from: Vector, to: Vector): Facet {
  const [x, y] = [to[1] - from[1], from[0] - to[0]]
  const sideLength = Math.hypot(x, y)
  return wall({ at: from, outward: [x / sideLength, y / sideLength, 0] })
}

const BRIOLETTE_FOLD = 6
/** Rings of corners on the rounded end, without the lower ring of the belt, and on the taper. The belt has two rings. */
const ON_HEAD = 2
const ON_TAPER = 3

/** A facet whose tilt is within rounding belongs neither to the visible side nor to the back. */
const UPRIGHT = 1e-9

/**
 * The briolette, seen from its side: a drop with a round cross-section, covered by rows of triangles, each row turned by half a step
 * against the one before (diamonddictionary.net, "briolette"; britannica.com, "drop cut"; profacet.com, "Briolette", which has rows of 16
 * kites). It lies in the plane of the face with its point towards y; the upper side counts as crown, the lower side as pavilion. The usual
 * number of facets is not published: this model has seven rings of six corners and two ends, 84 facets.
 */
export function brioletteFacets(proportions: Proportions): Facet[] {
  const corners = cornersOf(proportions)
  return corners
    .slice(1, -1)
    .flatMap((_, index) =>
      Array.from({ length: BRIOLETTE_FOLD }, (_, cornerIndex) => lozenge(corners, index + 1, cornerIndex)).flat(),
    )
}

/** A ring of the drop: its position along the axis from the middle of the belt, and its radius. Ordered from the rounded end to the point. */
type BrioletteRing = { readonly up: number; readonly radius: number }

/**
 * The rings of corners of a drop, including its two ends. The head is half an ellipsoid; an upright belt is at the widest place, where
 * cutters start a briolette; from there a parabola, which is upright at the belt, runs to the point.
 *
 * It has neither table nor pavilion: `table` is the distance of the belt's middle from the rounded end as a fraction of the length,
 * `girdle` the height of the belt, and the crown angle half of the point's angle. A stone too short for that angle has a blunter point.
 */
export function brioletteRings({ lengthToWidth, table, crownHeight, girdle }: Proportions): BrioletteRing[] {
  const head = table * lengthToWidth - girdle / 2
  const taper = (1 - table) * lengthToWidth - girdle / 2
  const pointSlope = crownHeight / ((1 - table) / 2)
  const upright = Math.max(LEAST_UPRIGHT * taper, taper - 0.5 / pointSlope)
  const onHead = (fraction: number): BrioletteRing => ({
    up: -girdle / 2 - head * Math.cos(radians(90 * fraction)),
    radius: 0.5 * Math.sin(radians(90 * fraction)),
  })
  const onTaper = (fraction: number): BrioletteRing => ({
    up: girdle / 2 + 2 * fraction * (1 - fraction) * upright + fraction * fraction * taper,
    radius: 0.5 * (1 - fraction * fraction),
  })
  return [
    ...Array.from({ length: ON_HEAD + 2 }, (_, index) => onHead(index / (ON_HEAD + 1))),
    ...Array.from({ length: ON_TAPER + 2 }, (_, index) => onTaper(index / (ON_TAPER + 1))),
  ]
}

/** Less would be nearly a cone, whose facets lie in one plane. */
const LEAST_UPRIGHT = 0.05

/** `corner` takes twelfths of a turn from the viewing direction; a ring has a corner at every second one. */
type BrioletteCornerRing = BrioletteRing & { readonly corner: (twelfth: number) => Vector }

/** Both rings of the belt have the full radius, so that one reaches the stone's full width and the other its full depth. */
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
 * The two triangles between two neighbouring corners of a ring and the corner above and the one below between them. Of the two ways to
 * fold this quadrilateral, one is convex: along the side between the neighbours if the outline bends enough, else from below to above.
 */
function lozenge(rings: readonly BrioletteCornerRing[], index: number, cornerIndex: number): Facet[] {
  const [below, ring, above] = [rings[index - 1], rings[index], rings[index + 1]]
  if (below === undefined || ring === undefined || above === undefined) return []
  const middle = 2 * cornerIndex + (index % 2)
  const [left, right] = [ring.corner(middle - 1), ring.corner(middle + 1)]
  const [low, high] = [below.corner(middle), above.corner(middle)]
  const fraction = (ring.up - below.up) / (above.up - below.up)
  const straightRadius = below.radius + fraction * (above.radius - below.radius)
  return ring.radius * Math.cos(Math.PI / BRIOLETTE_FOLD) > straightRadius
    ? [triangle('lower', low, left, right), triangle('upper', high, left, right)]
    : [triangle('left', low, high, left), triangle('right', low, high, right)]
}

function triangle(name: string, a: Vector, b: Vector, c: Vector): Facet {
  const facet = facetThrough('girdle', name, a, b, c)
  const up = facet.normal[2]
  return Math.abs(up) < UPRIGHT ? facet : { ...facet, part: up > 0 ? 'crown' : 'pavilion' }
}
