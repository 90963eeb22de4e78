import type { Side } from './round.ts'
import { split, type Field, type Lit } from './surface.ts'
import { cross, dot, plus, times, unit, type V } from './vectors.ts'

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
export function walk(
  sides: readonly Side[],
  from: V,
  towards: V,
  first: Side,
  index: number,
  random: () => number,
): V | undefined {
  const any = unit(cross(towards, Math.abs(towards[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0]))
  const turn = 2 * Math.PI * random()
  const polarised = plus(times(any, Math.cos(turn)), times(cross(towards, any), Math.sin(turn)))
  const entered = meet({ re: polarised, im: [0, 0, 0] }, towards, times(first.normal, -1), 1, index, random)
  if (!entered.leaves) return undefined
  let [point, ray, field, last] = [from, entered.ray, entered.field, first]
  for (let hit = 0; hit < 1000; hit++) {
    const met = nearest(sides, point, ray, last)
    if (met === undefined) return undefined
    point = plus(point, times(ray, met.reach))
    const next = meet(field, ray, met.side.normal, index, 1, random)
    if (next.leaves) return met.side.isCrown ? next.ray : undefined
    ;[ray, field, last] = [next.ray, next.field, met.side]
  }
  return undefined
}

/** The first side that a ray from inside meets, other than `last`. */
export function nearest(
  sides: readonly Side[],
  point: V,
  ray: V,
  last: Side,
): { side: Side; reach: number } | undefined {
  let found: { side: Side; reach: number } | undefined
  for (const side of sides) {
    const towards = dot(side.normal, ray)
    if (side === last || towards <= 0) continue
    const reach = (side.at - dot(side.normal, point)) / towards
    if (found === undefined || reach < found.reach) found = { side, reach }
  }
  return found
}

/** Reflects or transmits a photon. Its energy stays 1, since the probability accounts for the split. */
function meet(field: Field, ray: V, outwards: V, a: number, b: number, random: () => number) {
  const { back, through } = split({ ray, field, energy: 1 }, outwards, a, b)
  if (through === undefined || random() < back.energy) return { leaves: false as const, ...whole(back) }
  return { leaves: true as const, ...whole(through) }
}

function whole({ ray, field: { re, im }, energy }: Lit): Omit<Lit, 'energy'> {
  const by = 1 / Math.sqrt(energy)
  return { ray, field: { re: times(re, by), im: times(im, by) } }
}
