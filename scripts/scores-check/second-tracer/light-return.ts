import type { Side } from './round.ts'
import { cross, dot, plus, times, type V } from './vectors.ts'
import { randomFrom, walk } from './walk.ts'

/**
 * Weighted light return by photons: they come from a uniform sky onto the crown, and each one that leaves through it upwards counts with the
 * squared cosine of its exit angle (Hemphill et al., Gems & Gemology 34(3), 1998). A forward Monte Carlo simulation without code from src/, so
 * that agreement of both tracers is a test.
 */
export function photonReturn(sides: readonly Side[], index: number, photons: number): number {
  const random = randomFrom(1)
  let sum = 0
  let onCrown = 0
  const radius = reachOf(sides)
  while (onCrown < photons) {
    // From the sky to a point of a disc that faces it and covers the stone. Photons that miss the crown are not counted.
    const towards = fromSky(random)
    const [across, along] = axesOf(towards)
    const [a, b] = onDisc(random, radius)
    const start = plus(times(towards, -10), plus(times(across, a), times(along, b)))
    const met = entry(sides, start, towards)
    if (met === undefined || !met.side.isCrown) continue
    onCrown++
    const out = walk(sides, plus(start, times(towards, met.reach)), towards, met.side, index, random)
    if (out !== undefined && out[2] > 0) sum += out[2] * out[2]
  }
  return sum / onCrown
}

/** The direction of a photon from a uniform sky. The disc faces it, so no cosine weight is needed. */
function fromSky(random: () => number): V {
  const height = random()
  const turn = 2 * Math.PI * random()
  const flat = Math.sqrt(1 - height * height)
  return [-flat * Math.cos(turn), -flat * Math.sin(turn), -height]
}

function axesOf(towards: V): readonly [V, V] {
  const flat = Math.hypot(towards[0], towards[1])
  const across: V = flat < 1e-9 ? [1, 0, 0] : [-towards[1] / flat, towards[0] / flat, 0]
  return [across, cross(across, towards)]
}

function onDisc(random: () => number, radius: number): readonly [number, number] {
  const [far, turn] = [radius * Math.sqrt(random()), 2 * Math.PI * random()]
  return [far * Math.cos(turn), far * Math.sin(turn)]
}

/** The radius of a sphere around the origin that contains the stone. */
export const reachOf = (sides: readonly Side[]): number =>
  1.2 * Math.max(...sides.filter(({ normal }) => Math.abs(normal[2]) < 0.5).map(({ at }) => at)) + 0.1

/** Where light from outside first meets a stone. */
export function entry(sides: readonly Side[], start: V, towards: V): { side: Side; reach: number } | undefined {
  let [found, entered, left]: [Side | undefined, number, number] = [undefined, -Infinity, Infinity]
  for (const side of sides) {
    const speed = dot(side.normal, towards)
    const reach = (side.at - dot(side.normal, start)) / speed
    if (speed < 0 && reach > entered) [found, entered] = [side, reach]
    else if (speed > 0 && reach < left) left = reach
    else if (speed === 0 && side.at < dot(side.normal, start)) return undefined
  }
  return found !== undefined && entered < left ? { side: found, reach: entered } : undefined
}
