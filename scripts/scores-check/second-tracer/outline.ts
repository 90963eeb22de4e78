import type { HalfSpace } from './round-brilliant.ts'

type Wall = { readonly azimuth: number; readonly offset: number }

/**
 * The face-up area of a stone in squares of its width, from its vertical sides: each forms a triangle with the centre.
 * @throws RangeError if the vertical sides do not enclose the centre, or one of them is outside the outline
 */
export function areaFromAbove(sides: readonly HalfSpace[]): number {
  const walls = sides
    .filter(({ normal }) => Math.abs(normal[2]) < 1e-9)
    .map(({ normal, offset }): Wall => ({ azimuth: Math.atan2(normal[1], normal[0]), offset }))
    .sort((a, b) => a.azimuth - b.azimuth)
  const lengths = walls.map((wall, index) => {
    const [before, after] = [walls.at(index - 1) ?? wall, walls[(index + 1) % walls.length] ?? wall]
    return edgeLength(wall, before, angleBetween(before, wall)) + edgeLength(wall, after, angleBetween(wall, after))
  })
  if (walls.length < 3 || !lengths.every((length) => length > 0)) throw new RangeError('no outline of upright sides')
  return walls.reduce((sum, { offset }, index) => sum + (offset * (lengths[index] ?? NaN)) / 2, 0)
}

const angleBetween = (from: Wall, to: Wall): number => (to.azimuth - from.azimuth + 2 * Math.PI) % (2 * Math.PI)

/** The distance on a wall from the foot of the perpendicular through the centre to the intersection with the next wall; NaN if there is none. */
const edgeLength = (wall: Wall, next: Wall, angle: number): number =>
  angle < Math.PI - 1e-9 ? (next.offset - wall.offset * Math.cos(angle)) / Math.sin(angle) : NaN
