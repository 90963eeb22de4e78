import type { Surface } from './closed.ts'
import { NoStone } from './no-stone.ts'
import type { Polygon } from './polygon.ts'

/**
 * A closed surface's facets, all going around the same way (outwards or inwards), as the first does.
 * @throws NoStone where the facets are not connected, or the surface has only one side
 */
export function alike({ polygons, sides }: Surface): Polygon[] {
  const { first, facet, from, twin } = sides
  const turned = new Int8Array(polygons.length).fill(-1)
  turned[0] = 0
  const waiting = [0]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (let side = first[next] ?? 0; side < (first[next + 1] ?? 0); side++) {
      const across = twin[side] ?? 0
      const other = facet[across] ?? 0
      // Facets that go around alike pass their common edge in opposite ways.
      const turn = (turned[next] ?? 0) ^ (from[side] === from[across] ? 1 : 0)
      if (turned[other] === -1) waiting.push(other)
      else if (turned[other] !== turn) throw oneSided(polygons, next, other)
      turned[other] = turn
    }
  }
  const apart = turned.indexOf(-1)
  if (apart >= 0) throw inPieces(polygons, apart)
  return polygons.map((polygon, index) => (turned[index] === 1 ? reversed(polygon) : polygon))
}

export const reversed = ({ number, corners }: Polygon): Polygon => ({ number, corners: corners.toReversed() })

function oneSided(polygons: readonly Polygon[], a: number, b: number): NoStone {
  const numbers = [a, b].map((facet) => polygons[facet]?.number)
  return new NoStone(
    `The surface has no inside: facets ${numbers.join(' and ')} face opposite ways whichever way they turn`,
  )
}

function inPieces(polygons: readonly Polygon[], apart: number): NoStone {
  const [first, other] = [polygons[0]?.number, polygons[apart]?.number]
  return new NoStone(`The file holds more than one body: no facets join facet ${other} with facet ${first}`)
}
