import type { Proportions } from '../cut/proportions.ts'
import {
  add,
  facetThrough,
  heightOver,
  scale,
  slopingFacet,
  subtract,
  surfaceOver,
  type Facet,
  type Vector,
} from '../solid/facet.ts'
import {
  closedOutline,
  culetFacet,
  mirrorPlane,
  mirrorStation,
  onArc,
  wall,
  type Outline,
  type Station,
} from './outline.ts'

/**
 * The facets of a brilliant cut over any outline: table, bezels, stars and upper halves, girdle, pavilion mains and lower halves,
 * culet. Over a circle these are the 57 facets of the standard round brilliant.
 * @param evenCrown false: the table is the outline scaled about its centre; true: it is the outline moved inwards, so that all
 * bezels have the same angle, as in elongated stones
 * @param flatness slope of the mains relative to the slope with which they would reach the girdle; below 1, the upper part of the
 * pavilion consists of lower halves
 */
export function brilliantFacets(
  outline: Outline,
  proportions: Proportions,
  { evenCrown = false, flatness = 1 }: { readonly evenCrown?: boolean; readonly flatness?: number } = {},
): Facet[] {
  const isHalf = outline.gaps.some(({ neighbours }) => neighbours.length === 1)
  return [
    ...crownFacets(outline, proportions, evenCrown),
    ...pavilionFacets(outline, proportions, flatness),
    ...outline.walls,
    ...(isHalf ? [mirrorPlane] : []),
  ]
}

function crownFacets(outline: Outline, proportions: Proportions, isEven: boolean): Facet[] {
  const { table, crownHeight, girdle } = proportions
  const bezels = outline.stations.map((station) => {
    const slope = crownHeight / ((1 - table) * (isEven ? 0.5 : tangentDistance(outline, station)))
    return slopingFacet('crown', 'bezel', atHeight(station.at, girdle / 2), station.outward, slope)
  })
  const top: Facet = { part: 'crown', name: 'table', normal: [0, 0, 1], offset: girdle / 2 + crownHeight }
  return [top, ...bezels, ...starsAndHalves(outline, proportions, bezels, isEven)]
}

/**
 * Maximum height of star tips as a fraction of the crown height. Without it, a star of the usual length between two bezels with very
 * different directions, as at the head of a long pear, would end above the table and slope outwards.
 */
const HIGHEST_TIP = 0.9

/** For each gap a star, whose tip is on the edge between the bezels, and two upper halves from there to the girdle. */
function starsAndHalves(
  outline: Outline,
  proportions: Proportions,
  bezels: readonly Facet[],
  isEven: boolean,
): Facet[] {
  const { table, crownHeight, girdle, star } = proportions
  const edge = girdle / 2
  const scaledToTable = (at: Vector): Vector =>
    atHeight(add(outline.centre, scale(subtract(at, outline.centre), table)), edge + crownHeight)
  const onTable = ({ at, outward }: Station): Vector =>
    isEven ? atHeight(subtract(at, scale(outward, (1 - table) / 2)), edge + crownHeight) : scaledToTable(at)
  return outline.gaps.flatMap(({ corner, neighbours }) => {
    const [a, b] = neighbours.map(onTable)
    const middle = a === undefined || b === undefined ? scaledToTable(corner) : scale(add(a, b), 0.5)
    const tipAt = (fraction: number) =>
      meetPoint(outline, neighbours, bezels, add(middle, scale(subtract(corner, middle), fraction)))
    const [inner, outer] = [tipAt(0)[2], tipAt(1)[2]]
    const tip = tipAt(Math.max(star, (inner - edge - HIGHEST_TIP * crownHeight) / (inner - outer)))
    const stars = a === undefined || b === undefined ? [] : [facetThrough('crown', 'star', a, b, tip)]
    const upper = (at: Vector) => facetThrough('crown', 'upper', atHeight(at, edge), atHeight(corner, edge), tip)
    return [...stars, ...neighbours.map(({ at }) => upper(at))]
  })
}

function pavilionFacets(
  outline: Outline,
  { pavilionDepth, girdle, lower, culet }: Proportions,
  flatness: number,
): Facet[] {
  const edge = -girdle / 2
  const apex = atHeight(outline.centre, edge - pavilionDepth)
  const mains = outline.stations.map((station) =>
    slopingFacet(
      'pavilion',
      'main',
      apex,
      station.outward,
      (flatness * pavilionDepth) / tangentDistance(outline, station),
    ),
  )
  const halves = outline.gaps.flatMap(({ corner, neighbours }) => {
    const near = add(outline.centre, scale(subtract(corner, outline.centre), 1 - lower))
    const tip = meetPoint(outline, neighbours, mains, near)
    return neighbours.map(({ at }) =>
      facetThrough('pavilion', 'lower', atHeight(at, edge), atHeight(corner, edge), tip),
    )
  })
  return [...mains, ...halves, culetFacet(culet, pavilionDepth, edge)]
}

/**
 * The point where four facets meet: on the edge between the two mains next to a gap, as far out as `near`. A point off that edge would
 * be on one main only, and the half facets through it would hide the other one. At the mirror plane there is only one main, and the
 * point is on it.
 */
function meetPoint(outline: Outline, neighbours: readonly Station[], mains: readonly Facet[], near: Vector): Vector {
  const [a, b] = neighbours
  const [first, second] = neighbours.map((station) => mains[outline.stations.indexOf(station)])
  const onEdge = !a || !b || !first || !second ? near : findEqualHeightPoint(near, subtract(b.at, a.at), first, second)
  return atHeight(onEdge, surfaceOver(mains, onEdge[0], onEdge[1]))
}

function findEqualHeightPoint(from: Vector, along: Vector, first: Facet, second: Facet): Vector {
  const heightDifference = (at: Vector) => heightOver(first, at[0], at[1]) - heightOver(second, at[0], at[1])
  const [before, after] = [heightDifference(from), heightDifference(add(from, along))]
  return before === after ? from : add(from, scale(along, before / (before - after)))
}

const tangentDistance = ({ centre }: Outline, { at, outward }: Station): number =>
  (at[0] - centre[0]) * outward[0] + (at[1] - centre[1]) * outward[1]

const atHeight = ([x, y]: Vector, z: number): Vector => [x, y, z]

/** Number of girdle facets. With 32 the weighted light return is 0.001 lower; more than 64 change it by less than 0.0003. */
const ROUND_WALLS = 64

/** The round brilliant, or over an ellipse the oval. */
export function roundFacets(proportions: Proportions): Facet[] {
  const { lengthToWidth } = proportions
  return brilliantFacets(
    closedOutline((turn) => onEllipse(2 * Math.PI * turn, lengthToWidth), ROUND_WALLS, 0),
    proportions,
    { evenCrown: true },
  )
}

function onEllipse(angle: number, lengthToWidth: number): Station {
  const [x, y] = [Math.cos(angle), Math.sin(angle)]
  const norm = Math.hypot(x, y / lengthToWidth)
  return { at: [0.5 * x, 0.5 * lengthToWidth * y, 0], outward: [x / norm, y / lengthToWidth / norm, 0] }
}

const CUSHION_WALLS = 64
/** Exponents of the superellipse: 2 is an ellipse; larger ones approach a rectangle. */
const CUSHION_EXPONENT = 5
const OLD_MINE_EXPONENT = 3.2

/** The cushion brilliant: mains to the middle of each side and to each corner, as in a round. */
export function cushionBrilliantFacets(proportions: Proportions): Facet[] {
  return brilliantFacets(cushionOutline(proportions.lengthToWidth, CUSHION_EXPONENT), proportions, { flatness: 0.81 })
}

/**
 * The modified cushion: long, steep lower halves over flat mains, so that the pavilion bends below the girdle. This keeps more weight in
 * the pavilion and gives a crushed-ice look.
 */
export function cushionModifiedFacets(proportions: Proportions): Facet[] {
  return brilliantFacets(cushionOutline(proportions.lengthToWidth, CUSHION_EXPONENT), proportions, { flatness: 0.82 })
}

/** The old mine cut: a rounder cushion with short lower halves, so that the mains nearly reach the girdle. */
export function oldMineFacets(proportions: Proportions): Facet[] {
  return brilliantFacets(cushionOutline(proportions.lengthToWidth, OLD_MINE_EXPONENT), proportions, { flatness: 0.92 })
}

const cushionOutline = (lengthToWidth: number, exponent: number) =>
  closedOutline((turn) => onSuperellipse(2 * Math.PI * turn, lengthToWidth, exponent), CUSHION_WALLS, 0)

function onSuperellipse(angle: number, lengthToWidth: number, exponent: number): Station {
  const signedPower = (value: number, power: number) => Math.sign(value) * Math.abs(value) ** power
  const x = signedPower(Math.cos(angle), 2 / exponent)
  const y = signedPower(Math.sin(angle), 2 / exponent)
  const [across, along] = [signedPower(x, exponent - 1), signedPower(y, exponent - 1) / lengthToWidth]
  const norm = Math.hypot(across, along)
  return { at: [0.5 * x, 0.5 * lengthToWidth * y, 0], outward: [across / norm, along / norm, 0] }
}

const LOBE = 0.27
const HEART_MAINS = 5
const HEART_WALLS = 40
/** The distance of the culet below the line through the centres of the lobes. */
const HEART_CULET = 0.12

/**
 * The right half (x > 0) of the heart, which consists of two convex mirror images that meet in the plane x = 0. A ray that crosses the
 * plane continues in the other half, so the optics inside are exact. Light that leaves one lobe and enters the other one across the
 * cleft is not followed.
 */
export function heartFacets(proportions: Proportions): Facet[] {
  return brilliantFacets(halfHeart(proportions.lengthToWidth), proportions)
}

/** From the point up the side, with increasing curvature, and around the lobe to the cleft. */
function halfHeart(lengthToWidth: number): Outline {
  const side = heartSide(lengthToWidth - LOBE)
  const stations = Array.from({ length: HEART_MAINS }, (_, index) => side((index + 0.5) / HEART_MAINS))
  const corners = Array.from({ length: HEART_MAINS + 1 }, (_, index) => side(index / HEART_MAINS))
  return {
    stations,
    gaps: corners.map(({ at }, index) => ({
      corner: at,
      neighbours: [stations[index - 1], stations[index]].filter((station) => station !== undefined),
    })),
    walls: Array.from({ length: HEART_WALLS }, (_, index) => wall(side((index + 0.5) / HEART_WALLS))),
    centre: [0, -HEART_CULET, 0],
  }
}

/** The right outline from the point at (0, -end), fraction 0, to the cleft, fraction 1, by arc length. */
function heartSide(end: number): (fraction: number) => Station {
  const radius = 0.25 + end * end
  const arcAngle = Math.asin(end / radius)
  const lobeTurn = Math.acos((LOBE - 0.5) / LOBE)
  const flank = radius * arcAngle
  const arcLength = flank + LOBE * lobeTurn
  return (fraction) =>
    fraction * arcLength < flank
      ? onArc(0.5 - radius, 0, radius, (fraction * arcLength) / radius - arcAngle)
      : onArc(0.5 - LOBE, 0, LOBE, (fraction * arcLength - flank) / LOBE)
}

const WALLS_A_SIDE = 32
const MAINS_A_SIDE = 4

/** The marquise: two arcs that meet in two points. At a point, half facets meet instead of mains. */
export function marquiseFacets(proportions: Proportions): Facet[] {
  const end = proportions.lengthToWidth / 2
  const radius = 0.25 + end * end
  const arcAngle = Math.asin(end / radius)
  const side = (fraction: number) => onArc(0.5 - radius, 0, radius, arcAngle * (2 * fraction - 1))
  return brilliantFacets(twoSided(side), proportions, {
    evenCrown: true,
    flatness: marquiseFlatness(proportions.lengthToWidth),
  })
}

/**
 * Two longer arcs fill less of their rectangle (72 % at a length to width of 1.5, 68 % at 3), but the GIA's weight factor rises from
 * .00565 to .00595. So longer stones have fuller pavilions, which are modelled by flatter mains.
 */
const marquiseFlatness = (lengthToWidth: number): number =>
  Math.min(0.95, Math.max(0.6, 0.84 - 0.2 * (lengthToWidth - 2.025)))

/** The pear: a semicircle, and two arcs from its ends to the point. The culet is below the centre of the semicircle. */
export function pearFacets(proportions: Proportions): Facet[] {
  return brilliantFacets(twoSided(pearSide(proportions.lengthToWidth - 0.5)), proportions, { evenCrown: true })
}

/** The right side of a pear from the middle of its head (0) to its point (1), by arc length. */
function pearSide(end: number): (fraction: number) => Station {
  const radius = 0.25 + end * end
  const arcAngle = Math.asin(end / radius)
  const head = Math.PI / 4
  const arcLength = head + radius * arcAngle
  return (fraction) =>
    fraction * arcLength < head
      ? onArc(0, 0, 0.5, (fraction * arcLength) / 0.5 - Math.PI / 2)
      : onArc(0.5 - radius, 0, radius, (fraction * arcLength - head) / radius)
}

/** A whole outline from its right side, which runs from (0, bottom) to (0, top) as `fraction` goes from 0 to 1. */
function twoSided(side: (fraction: number) => Station): Outline {
  const right = Array.from({ length: MAINS_A_SIDE }, (_, index) => side((index + 0.5) / MAINS_A_SIDE))
  const stations = [...right, ...right.map(mirrorStation).reverse()]
  const corners = Array.from({ length: MAINS_A_SIDE }, (_, index) => side((index + 1) / MAINS_A_SIDE))
  const leftCorners = Array.from({ length: MAINS_A_SIDE }, (_, index) =>
    mirrorStation(side(1 - (index + 1) / MAINS_A_SIDE)),
  )
  const walls = Array.from({ length: WALLS_A_SIDE }, (_, index) => side((index + 0.5) / WALLS_A_SIDE))
  return {
    stations,
    gaps: [...corners, ...leftCorners].map(({ at }, index) => ({
      corner: at,
      neighbours: [stations[index], stations[(index + 1) % stations.length]].filter((station) => station !== undefined),
    })),
    walls: [...walls, ...walls.map(mirrorStation)].map(wall),
    centre: [0, 0, 0],
  }
}
