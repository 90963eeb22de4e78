import type { HalfSpace } from './round-brilliant.ts'
import { cross, dot, plus, times, type Vector3 } from './vectors.ts'
import { randomFrom, tracePhoton } from './photon.ts'

/**
 * Weighted light return by photons: they come from a uniform sky onto the crown, and each one that leaves through it upwards counts with the
 * squared cosine of its exit angle (Hemphill et al., Gems & Gemology 34(3), 1998). A forward Monte Carlo simulation without code from src/, so
 * that agreement of both tracers is a test.
 */
export function photonReturn(sides: readonly HalfSpace[], index: number, photons: number): number {
  const random = randomFrom(1)
  let sum = 0
  let onCrown = 0
  const radius = boundingRadius(sides)
  while (onCrown < photons) {
    // From the sky to a point of a disc that faces it and covers the stone. Photons that miss the crown are not counted.
    const towards = randomSkyDirection(random)
    const [across, along] = axesAcross(towards)
    const [a, b] = randomPointOnDisc(random, radius)
    const start = plus(times(towards, -10), plus(times(across, a), times(along, b)))
    const hit = firstHit(sides, start, towards)
    if (hit === undefined || !hit.side.isCrown) continue
    onCrown++
    const out = tracePhoton(sides, plus(start, times(towards, hit.distance)), towards, hit.side, index, random)
    if (out !== undefined && out[2] > 0) sum += out[2] * out[2]
  }
  return sum / onCrown
}

/** The direction of a photon from a uniform sky. The disc faces it, so no cosine weight is needed. */
function randomSkyDirection(random: () => number): Vector3 {
  const height = random()
  const turn = 2 * Math.PI * random()
  const flat = Math.sqrt(1 - height * height)
  return [-flat * Math.cos(turn), -flat * Math.sin(turn), -height]
}

function axesAcross(towards: Vector3): readonly [Vector3, Vector3] {
  const flat = Math.hypot(towards[0], towards[1])
  const across: Vector3 = flat < 1e-9 ? [1, 0, 0] : [-towards[1] / flat, towards[0] / flat, 0]
  return [across, cross(across, towards)]
}

function randomPointOnDisc(random: () => number, radius: number): readonly [number, number] {
  const [distance, turn] = [radius * Math.sqrt(random()), 2 * Math.PI * random()]
  return [distance * Math.cos(turn), distance * Math.sin(turn)]
}

/** The radius of a sphere around the origin that contains the stone. */
export const boundingRadius = (sides: readonly HalfSpace[]): number =>
  1.2 * Math.max(...sides.filter(({ normal }) => Math.abs(normal[2]) < 0.5).map(({ offset }) => offset)) + 0.1

/** Where light from outside first meets a stone. */
export function firstHit(
  sides: readonly HalfSpace[],
  start: Vector3,
  towards: Vector3,
): { side: HalfSpace; distance: number } | undefined {
  let [found, entered, leaving]: [HalfSpace | undefined, number, number] = [undefined, -Infinity, Infinity]
  for (const side of sides) {
    const speed = dot(side.normal, towards)
    const distance = (side.offset - dot(side.normal, start)) / speed
    if (speed < 0 && distance > entered) [found, entered] = [side, distance]
    else if (speed > 0 && distance < leaving) leaving = distance
    else if (speed === 0 && side.offset < dot(side.normal, start)) return undefined
  }
  return found !== undefined && entered < leaving ? { side: found, distance: entered } : undefined
}
