import type { Facet } from '../solid/facet.ts'
import type { Proportions } from '../cut/proportions.ts'
import { brilliantFacets } from './brilliant.ts'
import { closedOutline, type Station } from './outline.ts'

/** Flat facets of the girdle. 32 give a weighted light return lower by 0.001; more than 64 change it by less than 0.0003. */
const WALLS = 64

/** The round brilliant with its 57 facets, and over an ellipse the oval. */
export function roundFacets(proportions: Proportions): Facet[] {
  const { lengthToWidth } = proportions
  return brilliantFacets(
    closedOutline((turn) => onEllipse(2 * Math.PI * turn, lengthToWidth), WALLS, 0),
    proportions,
    { evenCrown: true },
  )
}

function onEllipse(angle: number, lengthToWidth: number): Station {
  const [x, y] = [Math.cos(angle), Math.sin(angle)]
  const steep = Math.hypot(x, y / lengthToWidth)
  return { at: [0.5 * x, 0.5 * lengthToWidth * y, 0], outward: [x / steep, y / lengthToWidth / steep, 0] }
}
