import type { HalfSpace } from './round-brilliant.ts'
import { split, type Field, type PolarisedRay } from './surface.ts'
import { cross, dot, plus, times, unit, type Vector3 } from './vectors.ts'

/** Pseudo-random numbers from 0 to 1 by seed (Mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

/**
 * The path of one photon: at each side it is reflected or transmitted at random, with the energy as probability. Polarisation is the field
 * itself, by Fresnel's amplitudes for its two components.
 * @returns the direction in which it leaves through the crown after it was inside the stone; undefined otherwise
 */
export function tracePhoton(
  sides: readonly HalfSpace[],
  from: Vector3,
  towards: Vector3,
  first: HalfSpace,
  index: number,
  random: () => number,
): Vector3 | undefined {
  const perpendicular = unit(cross(towards, Math.abs(towards[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0]))
  const turn = 2 * Math.PI * random()
  const polarised = plus(times(perpendicular, Math.cos(turn)), times(cross(towards, perpendicular), Math.sin(turn)))
  const entered = reflectOrTransmit(
    { re: polarised, im: [0, 0, 0] },
    towards,
    times(first.normal, -1),
    1,
    index,
    random,
  )
  if (!entered.leaves) return undefined
  let [point, ray, field, last] = [from, entered.direction, entered.field, first]
  for (let step = 0; step < 1000; step++) {
    const hit = nearestHit(sides, point, ray, last)
    if (hit === undefined) return undefined
    point = plus(point, times(ray, hit.distance))
    const next = reflectOrTransmit(field, ray, hit.side.normal, index, 1, random)
    if (next.leaves) return hit.side.isCrown ? next.direction : undefined
    ;[ray, field, last] = [next.direction, next.field, hit.side]
  }
  return undefined
}

/** The first side that a ray from inside meets, other than `last`. */
export function nearestHit(
  sides: readonly HalfSpace[],
  point: Vector3,
  ray: Vector3,
  last: HalfSpace,
): { side: HalfSpace; distance: number } | undefined {
  let hit: { side: HalfSpace; distance: number } | undefined
  for (const side of sides) {
    const towards = dot(side.normal, ray)
    if (side === last || towards <= 0) continue
    const distance = (side.offset - dot(side.normal, point)) / towards
    if (hit === undefined || distance < hit.distance) hit = { side, distance }
  }
  return hit
}

/** Reflects or transmits a photon. Its energy stays 1, since the probability accounts for the split. */
function reflectOrTransmit(field: Field, ray: Vector3, outwards: Vector3, a: number, b: number, random: () => number) {
  const { reflected, transmitted } = split({ direction: ray, field, energy: 1 }, outwards, a, b)
  if (transmitted === undefined || random() < reflected.energy)
    return { leaves: false as const, ...withUnitEnergy(reflected) }
  return { leaves: true as const, ...withUnitEnergy(transmitted) }
}

function withUnitEnergy({ direction, field: { re, im }, energy }: PolarisedRay): Omit<PolarisedRay, 'energy'> {
  const factor = 1 / Math.sqrt(energy)
  return { direction, field: { re: times(re, factor), im: times(im, factor) } }
}
