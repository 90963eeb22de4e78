import type { Side } from './round.ts'
import { cross, dot, plus, times, type V } from './vectors.ts'
import { randomFrom, walk } from './walk.ts'

/**
 * Weighted light return by photons: they come from an evenly bright sky onto the crown, and each that leaves through it upwards
 * counts with the squared cosine of the angle at which it leaves (Hemphill et al., Gems & Gemology 34(3), 1998). Written from the
 * physics, forwards and by chance, and with nothing of src/: what both tracers say, neither has from the other.
 */
export function photonReturn(sides: readonly Side[], index: number, photons: number): number {
  const random = randomFrom(1)
  let sum = 0
  let onCrown = 0
  const radius = reachOf(sides)
  while (onCrown < photons) {
    // From a point of the sky to a point of a disc over the stone that faces it: what misses the crown was never on it.
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

/** A direction of light from an evenly bright sky: all parts of the sky alike, since the disc turns with it. */
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

/** A ball around the origin that holds the stone: stones are at most this many widths long. */
export const reachOf = (sides: readonly Side[]): number =>
  1.2 * Math.max(...sides.filter(({ normal }) => Math.abs(normal[2]) < 0.5).map(({ at }) => at)) + 0.1

/** Where light from afar first meets a stone. */
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
