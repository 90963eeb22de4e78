import { angleBetweenColours, type Colours } from './colours.ts'
import { shiftedLattice } from './lattice.ts'
import { firstHit, boundingRadius } from './light-return.ts'
import { areaFromAbove } from './outline.ts'
import type { HalfSpace } from './round-brilliant.ts'
import { split, type PolarisedRay } from './surface.ts'
import { cross, dot, plus, times, unit, type Vector3 } from './vectors.ts'
import { nearestHit, randomFrom } from './photon.ts'

/** Two colours, and the fraction of light at which a ray is abandoned. */
export type FireSettings = Colours & { readonly cutOff: number }

/** Means over the face, in degrees. */
export type Fire = {
  /** The angle between F and C light that reaches an eye, times the energy. */
  readonly separation: number
  /** The same without the angle that an eye blurs; flashes as small as a spot count half (docs/scoring.md, "Face up"). */
  readonly fire: number
}

const DEGREE = Math.PI / 180
const SPOTS_ACROSS = 28
const HEAD_RADIUS = 15
const EYE_BLUR = 0.25

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
 * @returns one result per element of `settings`, all from the same rays
 */
export function traceFire(
  sides: readonly HalfSpace[],
  index: number,
  settings: readonly FireSettings[],
  seed: number,
): Fire[] {
  const random = randomFrom(seed)
  const scene = { sides, index, settings, spacing: Math.sqrt((4 * areaFromAbove(sides)) / Math.PI) / SPOTS_ACROSS }
  const views = eyes.map(({ tilt, turns }) => {
    const grids = turns.flatMap((turn) => {
      const view = viewOf(tilt * DEGREE, turn * DEGREE)
      return shiftedLattice(random).map((shift) => gridOf(scene, view, shift))
    })
    return { grids, spots: total(grids.map(({ spots }) => spots)) }
  })
  return settings.map((_, setting) => {
    const mean = (name: keyof Fire) =>
      total(views.map(({ grids, spots }) => total(grids.map(({ sums }) => sums[setting]?.[name] ?? NaN)) / spots)) /
      views.length
    return { separation: mean('separation'), fire: mean('fire') }
  })
}

const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0)

type Scene = {
  readonly sides: readonly HalfSpace[]
  readonly index: number
  readonly settings: readonly FireSettings[]
  /** Distance between spots in widths of the stone. */
  readonly spacing: number
}

type EyeView = { readonly eye: Vector3; readonly right: Vector3; readonly up: Vector3 }

/** The stone's y axis is vertical in the picture. */
function viewOf(tilt: number, turn: number): EyeView {
  const eye: Vector3 = [Math.sin(tilt) * Math.cos(turn), Math.sin(tilt) * Math.sin(turn), Math.cos(tilt)]
  const right = unit(cross([0, 1, 0], eye))
  return { eye, right, up: cross(eye, right) }
}

/** `results`: one element per pair of colours. */
type Spot = { readonly results: readonly SpotFire[]; readonly path: string }
type SpotFire = { readonly separation: number; readonly aboveBlur: number }

/** A grid of spots, each compared with its neighbours to the right and above. */
function gridOf(scene: Scene, { eye, right, up }: EyeView, [x, y]: readonly [number, number]) {
  const { sides, spacing } = scene
  const half = Math.ceil(boundingRadius(sides) / spacing) + 1
  const row = 2 * half + 1
  const grid = Array.from({ length: row * row }, (_, spot) => {
    const across = ((spot % row) - half + x) * spacing
    const along = (Math.floor(spot / row) - half + y) * spacing
    return spotAt(scene, eye, plus(times(right, across), times(up, along)))
  })
  let spots = 0
  const sums = scene.settings.map(() => ({ separation: 0, fire: 0 }))
  for (const [spotIndex, spot] of grid.entries()) {
    if (spot === undefined) continue
    spots++
    const neighbours = [grid[spotIndex + 1], grid[spotIndex + row]].filter((neighbour) => neighbour !== undefined)
    const matching = neighbours.filter(({ path }) => path === spot.path).length
    const weight = neighbours.length > 0 ? 0.5 + matching / neighbours.length / 2 : 0
    for (const [setting, sum] of sums.entries()) {
      const { separation, aboveBlur } = spot.results[setting] ?? { separation: NaN, aboveBlur: NaN }
      sum.separation += separation
      sum.fire += aboveBlur * weight
    }
  }
  return { spots, sums }
}

/** The appearance of the stone at a point of the view; undefined outside the stone. */
function spotAt({ sides, index, settings }: Scene, eye: Vector3, through: Vector3): Spot | undefined {
  const towards = times(eye, -1)
  const start = plus(through, times(eye, 10))
  const hit = firstHit(sides, start, towards)
  if (hit === undefined) return undefined
  const path: HalfSpace[] = [hit.side]
  let point = plus(start, times(towards, hit.distance))
  let lights = polarised(towards).flatMap(
    (light) => split(light, times(hit.side.normal, -1), 1, index).transmitted ?? [],
  )
  const results = settings.map(({ cutOff }) => ({ separation: 0, aboveBlur: 0, cutOff }))
  const lowestCutOff = Math.min(...settings.map(({ cutOff }) => cutOff))
  let [brightest, length] = [0, 1]
  for (let remaining = energyOf(lights); remaining > lowestCutOff && path.length < 1000; remaining = energyOf(lights)) {
    const [{ direction } = { direction: towards }] = lights
    const nextHit = nearestHit(sides, point, direction, path.at(-1) ?? hit.side)
    if (nextHit === undefined) break
    path.push(nextHit.side)
    point = plus(point, times(direction, nextHit.distance))
    const parts = lights.map((light) => split(light, nextHit.side.normal, index, 1))
    lights = parts.map(({ reflected }) => reflected)
    const out = parts.flatMap((part) => part.transmitted ?? [])
    const energy = energyOf(out)
    if (energy > brightest) [brightest, length] = [energy, path.length]
    const [leaving] = out
    if (leaving === undefined || !isLit(leaving.direction, nextHit.side, eye)) continue
    for (const [setting, sum] of results.entries()) {
      const colours = settings[setting]
      if (colours === undefined || remaining <= sum.cutOff) continue
      const angle = angleBetweenColours(leaving.direction, path, colours) / DEGREE
      sum.separation += energy * angle
      sum.aboveBlur += energy * Math.max(0, angle - EYE_BLUR)
    }
  }
  const planeIndexes = path.slice(0, length).map((side) => sides.indexOf(side))
  return { results, path: planeIndexes.join(' ') }
}

/** Two perpendicular polarisations with half of the energy each. */
function polarised(ray: Vector3): PolarisedRay[] {
  const one = unit(cross(ray, Math.abs(ray[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0]))
  return [one, cross(ray, one)].map((axis) => ({
    direction: ray,
    field: { re: times(axis, Math.SQRT1_2), im: [0, 0, 0] },
    energy: 0.5,
  }))
}

const energyOf = (lights: readonly PolarisedRay[]): number => lights.reduce((sum, { energy }) => sum + energy, 0)

/** Whether light comes from this direction: from above, through the crown, not blocked by the viewer's head and not from behind. */
function isLit(out: Vector3, { isCrown }: HalfSpace, eye: Vector3): boolean {
  const cosine = dot(out, eye)
  return isCrown && out[2] > 0 && cosine > 0 && cosine <= Math.cos(HEAD_RADIUS * DEGREE)
}
