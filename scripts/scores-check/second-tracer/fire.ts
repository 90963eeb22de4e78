import { apart, type Colours } from './colours.ts'
import { shiftedLattice } from './lattice.ts'
import { entry, reachOf } from './light-return.ts'
import { areaFromAbove } from './outline.ts'
import type { Side } from './round.ts'
import { split, type Lit } from './surface.ts'
import { cross, dot, plus, times, unit, type V } from './vectors.ts'
import { nearest, randomFrom } from './walk.ts'

/** Two colours, and the fraction of light at which a ray is abandoned. */
export type Asked = Colours & { readonly faint: number }

/** Means over the face, in degrees. */
export type Fire = {
  /** The angle between F and C light that reaches an eye, times the energy. */
  readonly separation: number
  /** The same without the angle that an eye blurs; flashes as small as a spot count half (docs/scoring.md, "Face up"). */
  readonly fire: number
}

const DEGREE = Math.PI / 180
const SPOTS_ACROSS = 28
const HEAD = 15
const BLUR = 0.25

/** Eyes 6° from the zenith, and a stone tilted by 15°, each from four sides. */
const eyes = [
  { tilt: 6, turns: [7, 97, 187, 277] },
  { tilt: 15, turns: [52, 142, 232, 322] },
] as const

/**
 * Computes a stone's fire independently, without code from src/: rays of two polarisations are followed from the eye with their amplitudes.
 * Where they leave, light of both colours is sent back through the same facets to the eye, and the angle between the colours is measured.
 * Grids of spots are shifted randomly: each seed gives an independent estimate.
 * @param index refractive index of the light whose energy is followed
 * @returns one result per element of `asked`, all from the same rays
 */
export function fireSeen(sides: readonly Side[], index: number, asked: readonly Asked[], seed: number): Fire[] {
  const random = randomFrom(seed)
  const scene = { sides, index, asked, step: Math.sqrt((4 * areaFromAbove(sides)) / Math.PI) / SPOTS_ACROSS }
  const looks = eyes.map(({ tilt, turns }) => {
    const grids = turns.flatMap((turn) => {
      const view = viewOf(tilt * DEGREE, turn * DEGREE)
      return shiftedLattice(random).map((shift) => gridOf(scene, view, shift))
    })
    return { grids, spots: total(grids.map(({ spots }) => spots)) }
  })
  return asked.map((_, which) => {
    const mean = (name: keyof Fire) =>
      total(looks.map(({ grids, spots }) => total(grids.map(({ seen }) => seen[which]?.[name] ?? NaN)) / spots)) /
      looks.length
    return { separation: mean('separation'), fire: mean('fire') }
  })
}

const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0)

type Scene = {
  readonly sides: readonly Side[]
  readonly index: number
  readonly asked: readonly Asked[]
  /** Distance between spots in widths of the stone. */
  readonly step: number
}

type View = { readonly eye: V; readonly right: V; readonly up: V }

/** The stone's y axis is vertical in the picture. */
function viewOf(tilt: number, turn: number): View {
  const eye: V = [Math.sin(tilt) * Math.cos(turn), Math.sin(tilt) * Math.sin(turn), Math.cos(tilt)]
  const right = unit(cross([0, 1, 0], eye))
  return { eye, right, up: cross(eye, right) }
}

/** `seen`: one element per pair of colours. */
type Spot = { readonly seen: readonly Shown[]; readonly way: string }
type Shown = { readonly separation: number; readonly over: number }

/** A grid of spots, each compared with its neighbours to the right and above. */
function gridOf(scene: Scene, { eye, right, up }: View, [x, y]: readonly [number, number]) {
  const { sides, step } = scene
  const half = Math.ceil(reachOf(sides) / step) + 1
  const row = 2 * half + 1
  const grid = Array.from({ length: row * row }, (_, spot) => {
    const across = ((spot % row) - half + x) * step
    const along = (Math.floor(spot / row) - half + y) * step
    return spotAt(scene, eye, plus(times(right, across), times(up, along)))
  })
  let spots = 0
  const seen = scene.asked.map(() => ({ separation: 0, fire: 0 }))
  for (const [place, spot] of grid.entries()) {
    if (spot === undefined) continue
    spots++
    const beside = [grid[place + 1], grid[place + row]].filter((one) => one !== undefined)
    const alike = beside.filter(({ way }) => way === spot.way).length
    const counts = beside.length > 0 ? 0.5 + alike / beside.length / 2 : 0
    for (const [which, sum] of seen.entries()) {
      const { separation, over } = spot.seen[which] ?? { separation: NaN, over: NaN }
      sum.separation += separation
      sum.fire += over * counts
    }
  }
  return { spots, seen }
}

/** The appearance of the stone at a point of the view; undefined outside the stone. */
function spotAt({ sides, index, asked }: Scene, eye: V, through: V): Spot | undefined {
  const towards = times(eye, -1)
  const start = plus(through, times(eye, 10))
  const met = entry(sides, start, towards)
  if (met === undefined) return undefined
  const way: Side[] = [met.side]
  let point = plus(start, times(towards, met.reach))
  let lights = polarised(towards).flatMap((light) => split(light, times(met.side.normal, -1), 1, index).through ?? [])
  const seen = asked.map(({ faint }) => ({ separation: 0, over: 0, faint }))
  const faintest = Math.min(...asked.map(({ faint }) => faint))
  let [brightest, length] = [0, 1]
  for (let left = energyOf(lights); left > faintest && way.length < 1000; left = energyOf(lights)) {
    const [{ ray } = { ray: towards }] = lights
    const next = nearest(sides, point, ray, way.at(-1) ?? met.side)
    if (next === undefined) break
    way.push(next.side)
    point = plus(point, times(ray, next.reach))
    const parts = lights.map((light) => split(light, next.side.normal, index, 1))
    lights = parts.map(({ back }) => back)
    const out = parts.flatMap((part) => part.through ?? [])
    const energy = energyOf(out)
    if (energy > brightest) [brightest, length] = [energy, way.length]
    const [from] = out
    if (from === undefined || !isLit(from.ray, next.side, eye)) continue
    for (const [which, sum] of seen.entries()) {
      const colours = asked[which]
      if (colours === undefined || left <= sum.faint) continue
      const angle = apart(from.ray, way, colours) / DEGREE
      sum.separation += energy * angle
      sum.over += energy * Math.max(0, angle - BLUR)
    }
  }
  const named = way.slice(0, length).map((side) => sides.indexOf(side))
  return { seen, way: named.join(' ') }
}

/** Two perpendicular polarisations with half of the energy each. */
function polarised(ray: V): Lit[] {
  const one = unit(cross(ray, Math.abs(ray[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0]))
  return [one, cross(ray, one)].map((axis) => ({
    ray,
    field: { re: times(axis, Math.SQRT1_2), im: [0, 0, 0] },
    energy: 0.5,
  }))
}

const energyOf = (lights: readonly Lit[]): number => lights.reduce((sum, { energy }) => sum + energy, 0)

/** Whether light comes from this direction: from above, through the crown, not blocked by the viewer's head and not from behind. */
function isLit(out: V, { isCrown }: Side, eye: V): boolean {
  const cosine = dot(out, eye)
  return isCrown && out[2] > 0 && cosine > 0 && cosine <= Math.cos(HEAD * DEGREE)
}
