import type { Facet } from '../solid/facet.ts'
import type { Proportions } from '../cut/proportions.ts'
import { brilliantFacets } from './brilliant.ts'
import { onArc, wall, type Outline, type Station } from './outline.ts'

const LOBE = 0.27
const MAINS = 5
const WALLS = 40
/** The culet's place below the line through the lobes' centres. */
const CULET = 0.12

/**
 * The heart as two convex halves, mirror images that meet in the plane x = 0: this is the half at x > 0. A ray that crosses
 * the plane goes on in the other half, so the optics inside are exact; light that leaves one lobe and enters the other
 * across the cleft is not followed.
 */
export function heartFacets(proportions: Proportions): Facet[] {
  return brilliantFacets(halfHeart(proportions.lengthToWidth), proportions)
}

/** From the point up the side, which turns ever more, and round the lobe to the cleft. */
function halfHeart(lengthToWidth: number): Outline {
  const side = heartSide(lengthToWidth - LOBE)
  const stations = Array.from({ length: MAINS }, (_, index) => side((index + 0.5) / MAINS))
  const corners = Array.from({ length: MAINS + 1 }, (_, index) => side(index / MAINS))
  return {
    stations,
    gaps: corners.map(({ at }, index) => ({
      corner: at,
      beside: [stations[index - 1], stations[index]].filter((station) => station !== undefined),
    })),
    walls: Array.from({ length: WALLS }, (_, index) => wall(side((index + 0.5) / WALLS))),
    centre: [0, -CULET, 0],
  }
}

/** The right half's outline from the point at (0, -end), part 0, to the cleft, part 1, by length of the way. */
function heartSide(end: number): (part: number) => Station {
  const radius = 0.25 + end * end
  const turn = Math.asin(end / radius)
  const lobeTurn = Math.acos((LOBE - 0.5) / LOBE)
  const flank = radius * turn
  const way = flank + LOBE * lobeTurn
  return (part) =>
    part * way < flank
      ? onArc(0.5 - radius, 0, radius, (part * way) / radius - turn)
      : onArc(0.5 - LOBE, 0, LOBE, (part * way - flank) / LOBE)
}
