import type { Facet } from '../solid/facet.ts'
import type { Proportions } from '../cut/proportions.ts'
import { brilliantFacets } from './brilliant.ts'
import { mirrored, onArc, wall, type Outline, type Station } from './outline.ts'

const WALLS_A_SIDE = 32
const MAINS_A_SIDE = 4

/** The marquise: two arcs that meet in two points. Half facets, not mains, meet at a point. */
export function marquiseFacets(proportions: Proportions): Facet[] {
  const end = proportions.lengthToWidth / 2
  const radius = 0.25 + end * end
  const turn = Math.asin(end / radius)
  const side = (part: number) => onArc(0.5 - radius, 0, radius, turn * (2 * part - 1))
  return brilliantFacets(twoSided(side), proportions, {
    evenCrown: true,
    flatness: marquiseFlatness(proportions.lengthToWidth),
  })
}

/**
 * Two arcs fill less of their rectangle the longer they are (72 % at 1.5, 68 % at 3), and still the GIA's weight factor
 * rises from .00565 to .00595: longer stones are cut fuller, which mains that are flatter under the lower halves give.
 */
const marquiseFlatness = (lengthToWidth: number): number =>
  Math.min(0.95, Math.max(0.6, 0.84 - 0.2 * (lengthToWidth - 2.025)))

/** The pear: a half circle, and from its ends two arcs to the point. The culet is under the middle of the half circle. */
export function pearFacets(proportions: Proportions): Facet[] {
  return brilliantFacets(twoSided(pearSide(proportions.lengthToWidth - 0.5)), proportions, { evenCrown: true })
}

/** The right side of a pear from the middle of its head (0) to its point (1), by length of the way. */
function pearSide(end: number): (part: number) => Station {
  const radius = 0.25 + end * end
  const turn = Math.asin(end / radius)
  const head = Math.PI / 4
  const way = head + radius * turn
  return (part) =>
    part * way < head
      ? onArc(0, 0, 0.5, (part * way) / 0.5 - Math.PI / 2)
      : onArc(0.5 - radius, 0, radius, (part * way - head) / radius)
}

/** A whole outline from its right side, which runs from (0, bottom) to (0, top) as `part` goes from 0 to 1. */
function twoSided(side: (part: number) => Station): Outline {
  const right = Array.from({ length: MAINS_A_SIDE }, (_, index) => side((index + 0.5) / MAINS_A_SIDE))
  const stations = [...right, ...right.map(mirrored).reverse()]
  const corners = Array.from({ length: MAINS_A_SIDE }, (_, index) => side((index + 1) / MAINS_A_SIDE))
  const back = Array.from({ length: MAINS_A_SIDE }, (_, index) => mirrored(side(1 - (index + 1) / MAINS_A_SIDE)))
  const walls = Array.from({ length: WALLS_A_SIDE }, (_, index) => side((index + 0.5) / WALLS_A_SIDE))
  return {
    stations,
    gaps: [...corners, ...back].map(({ at }, index) => ({
      corner: at,
      beside: [stations[index], stations[(index + 1) % stations.length]].filter((station) => station !== undefined),
    })),
    walls: [...walls, ...walls.map(mirrored)].map(wall),
    centre: [0, 0, 0],
  }
}
