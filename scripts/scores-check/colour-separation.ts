import { diamondOptics } from '../../src/optics/cut/trace-cut.ts'
import { at } from '../../src/optics/light/typed-arrays.ts'
import { toPlaneSet, type PlaneSet } from '../../src/optics/light/planes.ts'
import { viewFrom, type View } from '../../src/optics/light/view.ts'
import type { Solid } from '../../src/optics/solid/solid.ts'
import { radians } from '../../src/optics/solid/facet.ts'
import { aimFrom } from './plain-tracer/entry.ts'
import { isFromSky, newPath, trace, type LightPath } from './plain-tracer/light-path.ts'
import { angularDispersion } from './plain-tracer/plain-tracer.ts'

/** Number of spots in each direction of a square around the stone, per view. */
const SPOTS_PER_SIDE = 300
const CUT_OFF = 1e-4
const HEAD_COSINE = Math.cos(radians(15))

/**
 * The angle between F and C light that reaches the eye, times its energy, by our tracer, without subtracting what an eye blurs: the mean over
 * the face and the directions from which fire is scored, in degrees.
 */
export function meanColourSeparation(solid: Solid): number {
  const planes = toPlaneSet(solid)
  const squareWidth = 1.2 * Math.max(solid.width, solid.length)
  const meanOfFourSides = (tilt: number, first: number) =>
    mean(
      [0, 90, 180, 270].map((turn) =>
        separationFrom(planes, viewFrom(planes, radians(tilt), radians(first + turn)), squareWidth),
      ),
    )
  return mean([meanOfFourSides(6, 7), meanOfFourSides(15, 52)])
}

function separationFrom(planes: PlaneSet, view: View, squareWidth: number): number {
  const path = newPath()
  let [sum, spots] = [0, 0]
  for (let spot = 0; spot < SPOTS_PER_SIDE * SPOTS_PER_SIDE; spot++) {
    const [x, y] = [
      ((spot % SPOTS_PER_SIDE) + 0.5) / SPOTS_PER_SIDE,
      (Math.floor(spot / SPOTS_PER_SIDE) + 0.5) / SPOTS_PER_SIDE,
    ]
    const first = aimFrom(view, planes, path, squareWidth * (x - 0.5), squareWidth * (y - 0.5))
    if (first < 0) continue
    trace(path, planes, first, diamondOptics.index, CUT_OFF)
    sum += pathSeparation(path, planes, view)
    spots++
  }
  return sum / spots
}

function pathSeparation(path: LightPath, planes: PlaneSet, { eye }: View): number {
  let sum = 0
  for (let hit = 1; hit < path.hits; hit++) {
    const energy = at(path.energy, hit)
    if (energy === 0 || !isFromSky(path, planes, hit)) continue
    const cosine = eye.reduce((along, part, axis) => along + part * at(path.outside, 3 * hit + axis), 0)
    if (cosine <= 0 || cosine > HEAD_COSINE) continue
    sum += energy * angularDispersion(path, planes, hit, diamondOptics.index) * diamondOptics.dispersion
  }
  return (sum * 180) / Math.PI
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length
