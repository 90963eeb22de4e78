import type { Side } from './round.ts'
import { cross, dot, minus, plus, times, unit, type V } from './vectors.ts'

/** A field at right angles to its ray, real and imaginary part. Its square is the energy. */
type Field = { readonly re: V; readonly im: V }
type Complex = readonly [re: number, im: number]

/** Numbers from 0 to 1, the same on every run (Mulberry32). */
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
 * One photon's way: light comes to a side from outside and at each side chance decides, by the field's energy, whether it
 * is reflected or leaves. Polarisation is the field itself, with Fresnel's amplitudes on its parts across and along.
 * @returns the direction in which it leaves the stone through its crown, after it was inside; undefined elsewhere
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

function nearest(sides: readonly Side[], point: V, ray: V, last: Side): { side: Side; reach: number } | undefined {
  let found: { side: Side; reach: number } | undefined
  for (const side of sides) {
    const towards = dot(side.normal, ray)
    if (side === last || towards <= 0) continue
    const reach = (side.at - dot(side.normal, point)) / towards
    if (found === undefined || reach < found.reach) found = { side, reach }
  }
  return found
}

/** Snell and Fresnel at a plane, from index `a` into `b`. @param outwards the plane's normal on the other side */
function meet(field: Field, ray: V, outwards: V, a: number, b: number, random: () => number) {
  const cosine = dot(ray, outwards)
  const flat = minus(ray, times(outwards, cosine))
  const size = Math.hypot(...flat)
  const across =
    size < 1e-9
      ? unit(cross(outwards, Math.abs(outwards[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0]))
      : unit(cross(ray, outwards))
  const along = cross(across, ray)
  const [s, p] = [partOf(field, across), partOf(field, along)]
  const energy = norm(s) + norm(p)
  const square = 1 - (a / b) ** 2 * size * size
  const mirrored = minus(ray, times(outwards, 2 * cosine))
  const [rs, rp] = reflected(cosine, square, a / b)
  const [bs, bp] = [product(s, rs), product(p, rp)]
  const back = (norm(bs) + norm(bp)) / energy
  if (square <= 0 || random() < back) {
    return {
      leaves: false as const,
      ray: mirrored,
      field: fieldOf(bs, bp, across, cross(across, mirrored), back * energy),
    }
  }
  const out = Math.sqrt(square)
  const through = plus(times(flat, a / b), times(outwards, out))
  const [ts, tp] = [(2 * a * cosine) / (a * cosine + b * out), (2 * a * cosine) / (b * cosine + a * out)]
  const [fs, fp] = [scaled(s, ts), scaled(p, tp)]
  return {
    leaves: true as const,
    ray: through,
    field: fieldOf(fs, fp, across, cross(across, through), norm(fs) + norm(fp)),
  }
}

/** Fresnel's amplitudes of what is reflected, across and along; of absolute value 1 where all of it is. */
function reflected(cosine: number, square: number, ratio: number): readonly [Complex, Complex] {
  if (square > 0) {
    const out = Math.sqrt(square)
    return [
      [(ratio * cosine - out) / (ratio * cosine + out), 0],
      [(cosine - ratio * out) / (cosine + ratio * out), 0],
    ]
  }
  // Behind the plane the light's way has an imaginary cosine: it dies away there.
  const out = Math.sqrt(-square)
  return [
    quotient([ratio * cosine, -out], [ratio * cosine, out]),
    quotient([cosine, -ratio * out], [cosine, ratio * out]),
  ]
}

const partOf = ({ re, im }: Field, axis: V): Complex => [dot(re, axis), dot(im, axis)]
const norm = ([re, im]: Complex): number => re * re + im * im
const scaled = ([re, im]: Complex, by: number): Complex => [re * by, im * by]
const product = (a: Complex, b: Complex): Complex => [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]]
const quotient = (a: Complex, b: Complex): Complex => scaled(product(a, [b[0], -b[1]]), 1 / norm(b))

/** A field of energy 1: chance has already taken its share. */
function fieldOf(s: Complex, p: Complex, across: V, along: V, energy: number): Field {
  const by = 1 / Math.sqrt(energy)
  return {
    re: plus(times(across, s[0] * by), times(along, p[0] * by)),
    im: plus(times(across, s[1] * by), times(along, p[1] * by)),
  }
}
