import type { Proportions } from '../cut/proportions.ts'
import { facetThrough, slopingFacet, type Facet, type Vector } from '../solid/facet.ts'
import { culetFacet, wall } from './outline.ts'

/** The inner end of a row of facets: its distance inwards and its height, as fractions of the whole crown or pavilion. */
type Tier = { readonly inwards: number; readonly rise: number }

/** A side or a cut corner of a rectangle. `pace`: how fast it moves inwards relative to a long side. */
type OutlineSide = { readonly at: Vector; readonly outward: Vector; readonly pace: number }

const DIAGONAL = Math.SQRT1_2

/** Rows that become flatter towards the table, as in step cuts. */
const crownTiers: readonly Tier[] = [
  { inwards: 0.28, rise: 0.36 },
  { inwards: 0.62, rise: 0.7 },
  { inwards: 1, rise: 1 },
]
/**
 * The rows of a step cut's pavilion are not published. These rows, like the corners below, were selected from about 150 candidates with
 * the published weight factor: they return the most light over the tables (60 to 63.5 %), crowns (32° to 38°) and pavilions (43.5 to
 * 48.5 %) that are published as good. The angles of the rows near the girdle and near the culet add up to 85°, so that one reflects
 * light from above to the other.
 */
const asscherPavilion: readonly Tier[] = [
  { inwards: 0.213, rise: 0.281 },
  { inwards: 0.486, rise: 0.569 },
  { inwards: 1, rise: 1 },
]
const baguettePavilion: readonly Tier[] = [
  { inwards: 0.268, rise: 0.301 },
  { inwards: 0.575, rise: 0.615 },
  { inwards: 1, rise: 1 },
]
/**
 * The GIA's weight factors of emerald cuts rise from .0080 at a length to width of 1.25 to .0106 at 2.5, more than a longer keel
 * explains: longer stones have fuller pavilions. At the nominal 1.35 the rows are the selected ones.
 */
function emeraldPavilion(lengthToWidth: number): readonly Tier[] {
  const fuller = Math.min(1, Math.max(-0.1, lengthToWidth - 1.35))
  return [
    { inwards: 0.246 - 0.04 * fuller, rise: 0.287 + 0.03 * fuller },
    { inwards: 0.48 - 0.05 * fuller, rise: 0.538 + 0.05 * fuller },
    { inwards: 1, rise: 1 },
  ]
}

/** The emerald cut: small cut corners, three rows on the crown and three on the pavilion, which ends in a keel. */
export const emeraldFacets = (proportions: Proportions): Facet[] =>
  stepFacets(proportions, { cut: 0.119, pace: 1.041 }, emeraldPavilion(proportions.lengthToWidth))

/** The Asscher cut: nearly square, with larger cut corners and a pavilion that ends in a short keel. */
export const asscherFacets = (proportions: Proportions): Facet[] =>
  stepFacets(proportions, { cut: 0.157, pace: 1.25 }, asscherPavilion)

/** The baguette: a rectangle in rows, without cut corners. Tapered baguettes are not modelled. */
export const baguetteFacets = (proportions: Proportions): Facet[] =>
  stepFacets(proportions, { cut: 0, pace: 1 }, baguettePavilion)

/** `cut`: the part of the width that each corner cuts off; `pace`: how fast it moves inwards relative to a side. */
type CutCorner = { readonly cut: number; readonly pace: number }

function stepFacets(proportions: Proportions, corner: CutCorner, pavilion: readonly Tier[]): Facet[] {
  const { lengthToWidth, girdle, pavilionDepth, culet } = proportions
  const outlineSides = sides(lengthToWidth, corner)
  return [
    ...stepCrown(outlineSides, proportions, crownTiers),
    ...tiers(outlineSides, 'pavilion', -girdle / 2, 0.5, pavilionDepth, pavilion),
    ...outlineSides.map(wall),
    culetFacet(culet, pavilionDepth, -girdle / 2),
  ]
}

function stepCrown(
  outlineSides: readonly OutlineSide[],
  { table, crownHeight, girdle }: Proportions,
  rows: readonly Tier[],
): Facet[] {
  const top: Facet = { part: 'crown', name: 'table', normal: [0, 0, 1], offset: girdle / 2 + crownHeight }
  return [top, ...tiers(outlineSides, 'crown', girdle / 2, (1 - table) / 2, crownHeight, rows)]
}

/** The sides and corners of a rectangle of width 1. With `cut` 0 the corners are not cut. */
function sides(lengthToWidth: number, { cut: corner, pace }: CutCorner): OutlineSide[] {
  const end = lengthToWidth / 2
  const straightSides = [1, -1].flatMap((sign): OutlineSide[] => [
    { at: [0.5 * sign, 0, 0], outward: [sign, 0, 0], pace: 1 },
    { at: [0, end * sign, 0], outward: [0, sign, 0], pace: 1 },
  ])
  const cutCorners = [1, -1].flatMap((x) =>
    [1, -1].map((y): OutlineSide => ({
      at: [x * (0.5 - corner / 2), y * (end - corner / 2), 0],
      outward: [x * DIAGONAL, y * DIAGONAL, 0],
      pace,
    })),
  )
  return corner === 0 ? straightSides : [...straightSides, ...cutCorners]
}

function tiers(
  outlineSides: readonly OutlineSide[],
  part: 'crown' | 'pavilion',
  edge: number,
  inset: number,
  height: number,
  rows: readonly Tier[],
): Facet[] {
  const up = part === 'crown' ? 1 : -1
  return rows.flatMap((row, index) => {
    const previousRow = rows[index - 1] ?? { inwards: 0, rise: 0 }
    const slope = ((row.rise - previousRow.rise) * height) / ((row.inwards - previousRow.inwards) * inset)
    return outlineSides.map(({ at, outward, pace }) => {
      const back = previousRow.inwards * inset * pace
      const start: Vector = [
        at[0] - back * outward[0],
        at[1] - back * outward[1],
        edge + up * previousRow.rise * height,
      ]
      return slopingFacet(part, `row ${index + 1}`, start, outward, slope / pace)
    })
  })
}

/** The tip of a chevron on the middle line of a side: its distance inwards and its depth, as fractions of the whole. */
type ChevronTip = { readonly inwards: number; readonly depth: number }

const chevronCrownTiers = [
  { inwards: 0.45, rise: 0.58 },
  { inwards: 1, rise: 1 },
]

/** The princess cut: a square with minimally cut corners and three chevrons on each side of the pavilion. */
export const princessFacets = (proportions: Proportions): Facet[] =>
  chevronFacets(proportions, 0.015, [
    { inwards: 0.16, depth: 0.295 },
    { inwards: 0.48, depth: 0.635 },
    { inwards: 0.77, depth: 0.87 },
  ])

/** The radiant cut: a rectangle with cut corners, a brilliant pavilion and a step-cut crown. */
export const radiantFacets = (proportions: Proportions): Facet[] =>
  chevronFacets(proportions, 0.16, [
    { inwards: 0.2, depth: 0.3 },
    { inwards: 0.6, depth: 0.68 },
  ])

function chevronFacets(proportions: Proportions, corner: number, tips: readonly ChevronTip[]): Facet[] {
  const { lengthToWidth, girdle, pavilionDepth, culet } = proportions
  const outlineSides = sides(lengthToWidth, { cut: corner, pace: (1 - 0.9 * corner) * Math.SQRT2 })
  const edge = -girdle / 2
  return [
    ...stepCrown(outlineSides, proportions, chevronCrownTiers),
    ...outlineSides
      .filter(({ pace }) => pace === 1)
      .flatMap(({ at }) => chevrons(at, lengthToWidth, corner, proportions, tips)),
    ...outlineSides
      .filter(({ pace }) => pace !== 1)
      .map(({ at, outward }) =>
        slopingFacet(
          'pavilion',
          'corner',
          [at[0], at[1], edge],
          outward,
          pavilionDepth / (at[0] * outward[0] + at[1] * outward[1]),
        ),
      ),
    ...outlineSides.map(wall),
    culetFacet(culet, pavilionDepth, edge),
  ]
}

/** Facets that fan out from both ends of a side to the tips on its middle line, the last to the culet. */
function chevrons(
  middle: Vector,
  lengthToWidth: number,
  corner: number,
  { girdle, pavilionDepth }: Proportions,
  tips: readonly ChevronTip[],
): Facet[] {
  const edge = -girdle / 2
  const isAlongX = middle[0] === 0
  const half = (isAlongX ? 0.5 : lengthToWidth / 2) - corner
  const ends = [-half, half].map((offset): Vector => (isAlongX ? [offset, middle[1], edge] : [middle[0], offset, edge]))
  const line = [{ inwards: 0, depth: 0 }, ...tips, { inwards: 1, depth: 1 }].map(({ inwards, depth }): Vector => [
    middle[0] * (1 - inwards),
    middle[1] * (1 - inwards),
    edge - depth * pavilionDepth,
  ])
  const [first, second] = ends
  const [, girdleTip] = line
  if (first === undefined || second === undefined || girdleTip === undefined) return []
  return [
    facetThrough('pavilion', 'girdle chevron', first, second, girdleTip),
    ...line.slice(1).flatMap((tip, index) => {
      const next = line[index + 2]
      return next === undefined
        ? []
        : ends.map((end) => facetThrough('pavilion', `chevron ${index + 1}`, end, tip, next))
    }),
  ]
}
