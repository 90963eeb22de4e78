import type { Side } from './round.ts'

type Wall = { readonly turn: number; readonly at: number }

/**
 * The face-up area of a stone in squares of its width, from its vertical sides: each forms a triangle with the centre.
 * @throws RangeError if the vertical sides do not enclose the centre, or one of them is outside the outline
 */
export function areaFromAbove(sides: readonly Side[]): number {
  const walls = sides
    .filter(({ normal }) => Math.abs(normal[2]) < 1e-9)
    .map(({ normal, at }): Wall => ({ turn: Math.atan2(normal[1], normal[0]), at }))
    .sort((a, b) => a.turn - b.turn)
  const lengths = walls.map((wall, place) => {
    const [before, after] = [walls.at(place - 1) ?? wall, walls[(place + 1) % walls.length] ?? wall]
    return reach(wall, before, between(before, wall)) + reach(wall, after, between(wall, after))
  })
  if (walls.length < 3 || !lengths.every((length) => length > 0)) throw new RangeError('no outline of upright sides')
  return walls.reduce((sum, { at }, place) => sum + (at * (lengths[place] ?? NaN)) / 2, 0)
}

const between = (from: Wall, to: Wall): number => (to.turn - from.turn + 2 * Math.PI) % (2 * Math.PI)

/** The distance on a wall from the foot of the perpendicular through the centre to the intersection with the next wall; NaN if there is none. */
const reach = (wall: Wall, next: Wall, angle: number): number =>
  angle < Math.PI - 1e-9 ? (next.at - wall.at * Math.cos(angle)) / Math.sin(angle) : NaN
