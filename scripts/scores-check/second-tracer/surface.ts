import { cross, dot, minus, plus, times, unit, type V } from './vectors.ts'

/** An electric field perpendicular to its ray, as real and imaginary part. Its square is the energy. */
export type Field = { readonly re: V; readonly im: V }
type Complex = readonly [re: number, im: number]

export type Lit = { readonly ray: V; readonly field: Field; readonly energy: number }

/**
 * Snell's and Fresnel's laws at a plane, from index `a` into `b`: the reflected and, unless reflection is total, the transmitted light.
 * @param outwards the plane's normal towards the other side
 */
export function split(
  { ray, field, energy }: Lit,
  outwards: V,
  a: number,
  b: number,
): { readonly back: Lit; readonly through?: Lit } {
  const cosine = dot(ray, outwards)
  const flat = minus(ray, times(outwards, cosine))
  const size = Math.hypot(...flat)
  const across =
    size < 1e-9
      ? unit(cross(outwards, Math.abs(outwards[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0]))
      : unit(cross(ray, outwards))
  const along = cross(across, ray)
  const [s, p] = [partOf(field, across), partOf(field, along)]
  const square = 1 - (a / b) ** 2 * size * size
  const [rs, rp] = reflected(cosine, square, a / b)
  const [bs, bp] = [product(s, rs), product(p, rp)]
  const kept = square > 0 ? norm(bs) + norm(bp) : energy
  const mirrored = minus(ray, times(outwards, 2 * cosine))
  const back = { ray: mirrored, field: fieldOf(bs, bp, across, cross(across, mirrored), kept), energy: kept }
  if (square <= 0) return { back }
  const out = Math.sqrt(square)
  const onward = plus(times(flat, a / b), times(outwards, out))
  const [ts, tp] = [(2 * a * cosine) / (a * cosine + b * out), (2 * a * cosine) / (b * cosine + a * out)]
  const gone = Math.max(0, energy - kept)
  return {
    back,
    through: {
      ray: onward,
      field: fieldOf(scaled(s, ts), scaled(p, tp), across, cross(across, onward), gone),
      energy: gone,
    },
  }
}

/** Fresnel's amplitudes of reflection for both polarisations; absolute value 1 for total reflection. */
function reflected(cosine: number, square: number, ratio: number): readonly [Complex, Complex] {
  if (square > 0) {
    const out = Math.sqrt(square)
    return [
      [(ratio * cosine - out) / (ratio * cosine + out), 0],
      [(cosine - ratio * out) / (cosine + ratio * out), 0],
    ]
  }
  // Total reflection: behind the plane the cosine is imaginary, and the field decays (evanescent wave).
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

function fieldOf(s: Complex, p: Complex, across: V, along: V, energy: number): Field {
  const squares = norm(s) + norm(p)
  const by = squares > 0 ? Math.sqrt(energy / squares) : 0
  return {
    re: plus(times(across, s[0] * by), times(along, p[0] * by)),
    im: plus(times(across, s[1] * by), times(along, p[1] * by)),
  }
}
