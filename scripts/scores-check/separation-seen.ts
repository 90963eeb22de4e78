import { diamondOptics } from '../../src/domain/scoring/cut/trace-cut.ts'
import { at } from '../../src/domain/scoring/light/optics.ts'
import { toPlaneSet, type PlaneSet } from '../../src/domain/scoring/light/planes.ts'
import { angularDispersion } from '../../src/domain/scoring/light/face-up.ts'
import { isFromSky, newPath, trace, type LightPath } from '../../src/domain/scoring/light/trace.ts'
import { aimFrom, viewFrom, type View } from '../../src/domain/scoring/light/view.ts'
import type { Solid } from '../../src/domain/scoring/solid/solid.ts'
import { radians } from '../../src/domain/scoring/solid/facet.ts'

/** Number of spots in each direction of a square around the stone, per view. */
const ACROSS = 300
const CUT_OFF = 1e-4
const HEAD = Math.cos(radians(15))

/**
 * The angle between F and C light that reaches the eye, times its energy, by our tracer, without subtracting what an eye blurs: the mean over
 * the face and the directions from which fire is scored, in degrees.
 */
export function separationSeen(solid: Solid): number {
  const planes = toPlaneSet(solid)
  const wide = 1.2 * Math.max(solid.width, solid.length)
  const from = (tilt: number, first: number) =>
    mean(
      [0, 90, 180, 270].map((turn) => seenFrom(planes, viewFrom(planes, radians(tilt), radians(first + turn)), wide)),
    )
  return mean([from(6, 7), from(15, 52)])
}

function seenFrom(planes: PlaneSet, view: View, wide: number): number {
  const path = newPath()
  let [sum, spots] = [0, 0]
  for (let spot = 0; spot < ACROSS * ACROSS; spot++) {
    const [x, y] = [((spot % ACROSS) + 0.5) / ACROSS, (Math.floor(spot / ACROSS) + 0.5) / ACROSS]
    const first = aimFrom(view, planes, path, wide * (x - 0.5), wide * (y - 0.5))
    if (first < 0) continue
    trace(path, planes, first, diamondOptics.index, CUT_OFF)
    sum += separations(path, planes, view)
    spots++
  }
  return sum / spots
}

function separations(path: LightPath, planes: PlaneSet, { eye }: View): number {
  let sum = 0
  for (let hit = 1; hit < path.hits; hit++) {
    const energy = at(path.energy, hit)
    if (energy === 0 || !isFromSky(path, planes, hit)) continue
    const cosine = eye.reduce((along, part, axis) => along + part * at(path.outside, 3 * hit + axis), 0)
    if (cosine <= 0 || cosine > HEAD) continue
    sum += energy * angularDispersion(path, planes, hit, diamondOptics.index) * diamondOptics.dispersion
  }
  return (sum * 180) / Math.PI
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length
