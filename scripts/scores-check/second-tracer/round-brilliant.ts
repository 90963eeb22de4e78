import { cross, dot, minus, unit, type Vector3 } from './vectors.ts'

/** A half-space that contains the stone; points beyond `offset` along `normal` are outside. */
export type HalfSpace = { readonly normal: Vector3; readonly offset: number; readonly isCrown: boolean }

/** Percent of the width, and degrees. */
export type RoundBrilliant = {
  readonly table: number
  readonly crown: number
  readonly pavilion: number
  readonly star: number
  readonly lower: number
  readonly girdle: number
  readonly culet: number
}

const DEGREE = Math.PI / 180
const GIRDLE_SIDES = 64

/** A round brilliant of width 1: eight mains above and below, and every other facet as the plane through three of its corners. */
export function roundSides({ table, crown, pavilion, star, lower, girdle, culet }: RoundBrilliant): HalfSpace[] {
  const half = girdle / 200
  const top = half + (0.5 - table / 200) * Math.tan(crown * DEGREE)
  const bottom = -half - 0.5 * Math.tan(pavilion * DEGREE)
  const around = (turn: number, radius: number, z: number): Vector3 => [
    radius * Math.cos(turn * 45 * DEGREE),
    radius * Math.sin(turn * 45 * DEGREE),
    z,
  ]
  const sides: HalfSpace[] = [
    { normal: [0, 0, 1], offset: top, isCrown: true },
    { normal: [0, 0, -1], offset: -(bottom + (culet / 200) * Math.tan(pavilion * DEGREE)), isCrown: false },
  ]
  // By symmetry, neighbouring mains meet in the plane half way between them, and so do the tips of stars and lower halves.
  const middle = Math.cos(22.5 * DEGREE)
  const onBezels = (radius: number) => half + (0.5 - radius * middle) * Math.tan(crown * DEGREE)
  const onMains = (radius: number) => bottom + radius * middle * Math.tan(pavilion * DEGREE)
  const tableEdge = (table / 200) * middle
  const starTip = tableEdge + (star / 100) * (0.5 - tableEdge)
  const lowerTip = 0.5 * (1 - lower / 100)
  for (let main = 0; main < 8; main++) {
    const tiltedNormal = (angle: number, up: number): Vector3 =>
      around(main, Math.sin(angle * DEGREE), up * Math.cos(angle * DEGREE))
    sides.push(halfSpace(tiltedNormal(crown, 1), around(main, 0.5, half), true))
    sides.push(halfSpace(tiltedNormal(pavilion, -1), [0, 0, bottom], false))
    const tip = around(main + 0.5, starTip, onBezels(starTip))
    sides.push(planeThrough(around(main, table / 200, top), around(main + 1, table / 200, top), tip, true))
    const low = around(main + 0.5, lowerTip, onMains(lowerTip))
    for (const end of [main, main + 1]) {
      sides.push(planeThrough(around(end, 0.5, half), around(main + 0.5, 0.5, half), tip, true))
      sides.push(planeThrough(around(end, 0.5, -half), around(main + 0.5, 0.5, -half), low, false))
    }
  }
  for (let wall = 0; wall < GIRDLE_SIDES; wall++) {
    sides.push({ normal: around((wall + 0.5) * (8 / GIRDLE_SIDES), 1, 0), offset: 0.5, isCrown: false })
  }
  return sides
}

const halfSpace = (normal: Vector3, point: Vector3, isCrown: boolean): HalfSpace => ({
  normal,
  offset: dot(normal, point),
  isCrown,
})

/** The plane through three points, with its normal pointing away from the stone's centre. */
function planeThrough(a: Vector3, b: Vector3, c: Vector3, isCrown: boolean): HalfSpace {
  const normal = unit(cross(minus(b, a), minus(c, a)))
  return dot(normal, a) < 0
    ? halfSpace([-normal[0], -normal[1], -normal[2]], a, isCrown)
    : halfSpace(normal, a, isCrown)
}
