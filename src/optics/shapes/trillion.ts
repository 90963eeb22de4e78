import type { Facet, Vector } from '../solid/facet.ts'
import type { Proportions } from '../cut/proportions.ts'
import { brilliantFacets } from './brilliants.ts'
import { wall, type Outline, type Station } from './outline.ts'

const SIDES = 3
const WALLS_A_SIDE = 20
/** Angle in radians from the middle of a side to a corner, by the direction that the outline faces. */
const TO_CORNER = Math.PI / SIDES
/** Half of the angle that a bowed side spans, and the radius of a rounded corner relative to that of the side. */
const BOW = (25 * Math.PI) / 180
const CORNER = 0.08
/** Where half facets meet on the girdle, as a fraction of BOW. With this value no facet cuts through a thin girdle. */
const GAP = 0.75

/**
 * The trillion: a triangle with bowed sides and rounded corners, cut as a brilliant with a main to the middle of each side and to each
 * corner; it points upwards. It has the 44 facets of trade descriptions: a table, 6 bezels, 6 stars and 12 halves on the crown, 6 mains,
 * 12 halves and a culet on the pavilion (diamondsonweb.com; mgc-labs.ru, "trillion").
 */
export function trillionFacets(proportions: Proportions): Facet[] {
  return brilliantFacets(bowedTriangle(proportions.lengthToWidth), proportions)
}

function bowedTriangle(lengthToWidth: number): Outline {
  const stationAt = stationFinder(lengthToWidth)
  const sides = Array.from({ length: SIDES }, (_, side) => side)
  const stations = sides.flatMap((side) => [stationAt(side, -TO_CORNER), stationAt(side, 0)])
  const corners = sides.flatMap((side) => [stationAt(side, -GAP * BOW), stationAt(side, GAP * BOW)])
  const walls = sides.flatMap((side) =>
    Array.from({ length: WALLS_A_SIDE }, (_, index) =>
      wall(stationAt(side, TO_CORNER * ((2 * index + 1) / WALLS_A_SIDE - 1))),
    ),
  )
  return {
    stations,
    gaps: corners.map(({ at }, index) => ({
      corner: at,
      neighbours: [stations[index], stations[(index + 1) % stations.length]].filter((station) => station !== undefined),
    })),
    walls,
    centre: [0, 0, 0],
  }
}

/** Stations by side, counter-clockwise from the lower one, and by direction relative to the one that the side's middle faces. */
function stationFinder(lengthToWidth: number): (side: number, direction: number) => Station {
  // The centre of a corner's arc lies on the line between two sides, where the side's arc ends.
  const cornerX = (1 - CORNER) * Math.sin(BOW)
  const cornerY = cornerX * Math.tan(Math.PI / 2 - TO_CORNER)
  const sideY = cornerY - (1 - CORNER) * Math.cos(BOW)
  const onSide = (direction: number): Vector => {
    const [magnitude, sign] = [Math.abs(direction), Math.sign(direction)]
    const [x, y, radius] = magnitude <= BOW ? [0, sideY, 1] : [sign * cornerX, cornerY, CORNER]
    // With this side at the bottom, its middle faces down.
    return [x + radius * Math.sin(direction), -(y + radius * Math.cos(direction)), 0]
  }
  const rotate = ([x, y]: Vector, angle: number): Vector => [
    x * Math.cos(angle) - y * Math.sin(angle),
    x * Math.sin(angle) + y * Math.cos(angle),
    0,
  ]
  const width = 2 * (cornerX + CORNER)
  const length = sideY + 1 + Math.hypot(cornerX, cornerY) + CORNER
  const [across, along] = [1 / width, lengthToWidth / length]
  return (side, direction) => {
    const angle = (2 * Math.PI * side) / SIDES
    const [x, y] = rotate(onSide(direction), angle)
    const [facingX, facingY] = rotate([Math.sin(direction), -Math.cos(direction), 0], angle)
    const norm = Math.hypot(facingX / across, facingY / along)
    return { at: [x * across, y * along, 0], outward: [facingX / across / norm, facingY / along / norm, 0] }
  }
}
