import { facetThrough, slopingFacet, type Facet } from '../solid/facet.ts'
import type { Proportions } from '../cut/proportions.ts'
import type { Vector } from '../solid/vector.ts'
import { culetFacet } from './culet.ts'
import { wall } from './outline.ts'
import { sides, stepCrown } from './step.ts'

/** Where the chevrons' tips are on the middle line of a side: the way inwards and the depth, as parts of the whole. */
type Tip = { readonly inwards: number; readonly deep: number }

const rows = [
  { inwards: 0.45, rises: 0.58 },
  { inwards: 1, rises: 1 },
]

/** The princess cut: a square with hardly cut corners, three chevrons to each side of the pavilion. */
export const princessFacets = (proportions: Proportions): Facet[] =>
  chevronFacets(proportions, 0.015, [
    { inwards: 0.16, deep: 0.295 },
    { inwards: 0.48, deep: 0.635 },
    { inwards: 0.77, deep: 0.87 },
  ])

/** The radiant cut: a rectangle with cut corners, a brilliant pavilion, and rows on the crown. */
export const radiantFacets = (proportions: Proportions): Facet[] =>
  chevronFacets(proportions, 0.16, [
    { inwards: 0.2, deep: 0.3 },
    { inwards: 0.6, deep: 0.68 },
  ])

function chevronFacets(proportions: Proportions, corner: number, tips: readonly Tip[]): Facet[] {
  const { lengthToWidth, girdle, pavilionDepth, culet } = proportions
  const around = sides(lengthToWidth, { cut: corner, pace: (1 - 0.9 * corner) * Math.SQRT2 })
  const edge = -girdle / 2
  return [
    ...stepCrown(around, proportions, rows),
    ...around
      .filter(({ pace }) => pace === 1)
      .flatMap(({ at }) => chevrons(at, lengthToWidth, corner, proportions, tips)),
    ...around
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
    ...around.map(wall),
    culetFacet(culet, pavilionDepth, edge),
  ]
}

/** From both ends of a side facets fan out to the tips on its middle line, the last to the culet. */
function chevrons(
  middle: Vector,
  lengthToWidth: number,
  corner: number,
  { girdle, pavilionDepth }: Proportions,
  tips: readonly Tip[],
): Facet[] {
  const edge = -girdle / 2
  const along = middle[0] === 0
  const half = (along ? 0.5 : lengthToWidth / 2) - corner
  const ends = [-half, half].map((way): Vector => (along ? [way, middle[1], edge] : [middle[0], way, edge]))
  const line = [{ inwards: 0, deep: 0 }, ...tips, { inwards: 1, deep: 1 }].map(({ inwards, deep }): Vector => [
    middle[0] * (1 - inwards),
    middle[1] * (1 - inwards),
    edge - deep * pavilionDepth,
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
