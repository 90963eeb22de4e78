import { cross, dot, minus, plus, times, unit, type Vector3 } from './vectors.ts'

/** An electric field perpendicular to its ray, as real and imaginary part. Its square is the energy. */
export type Field = { readonly re: Vector3; readonly im: Vector3 }
type Complex = readonly [re: number, im: number]

export type PolarisedRay = { readonly direction: Vector3; readonly field: Field; readonly energy: number }

/**
 * Snell's and Fresnel's laws at a plane, from index `a` into `b`: the reflected and, unless reflection is total, the transmitted light.
 * @param outwards the plane's normal towards the other side
 */
export function split(
  { direction, field, energy }: PolarisedRay,
  outwards: Vector3,
  a: number,
  b: number,
): { readonly reflected: PolarisedRay; readonly transmitted?: PolarisedRay } {
  const cosine = dot(direction, outwards)
  const tangential = minus(direction, times(outwards, cosine))
  const sine = Math.hypot(...tangential)
  const across =
    sine < 1e-9
      ? unit(cross(outwards, Math.abs(outwards[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0]))
      : unit(cross(direction, outwards))
  const along = cross(across, direction)
  const [s, p] = [component(field, across), component(field, along)]
  const cosineSquare = 1 - (a / b) ** 2 * sine * sine
  const [rs, rp] = reflectionAmplitudes(cosine, cosineSquare, a / b)
  const [bs, bp] = [product(s, rs), product(p, rp)]
  const reflectedEnergy = cosineSquare > 0 ? norm(bs) + norm(bp) : energy
  const reflectedDirection = minus(direction, times(outwards, 2 * cosine))
  const reflected = {
    direction: reflectedDirection,
    field: fieldOf(bs, bp, across, cross(across, reflectedDirection), reflectedEnergy),
    energy: reflectedEnergy,
  }
  if (cosineSquare <= 0) return { reflected }
  const cosineOut = Math.sqrt(cosineSquare)
  const transmittedDirection = plus(times(tangential, a / b), times(outwards, cosineOut))
  const [ts, tp] = [(2 * a * cosine) / (a * cosine + b * cosineOut), (2 * a * cosine) / (b * cosine + a * cosineOut)]
  const transmittedEnergy = Math.max(0, energy - reflectedEnergy)
  return {
    reflected,
    transmitted: {
      direction: transmittedDirection,
      field: fieldOf(scale(s, ts), scale(p, tp), across, cross(across, transmittedDirection), transmittedEnergy),
      energy: transmittedEnergy,
    },
  }
}

/** Fresnel's amplitudes of reflection for both polarisations; absolute value 1 for total reflection. */
function reflectionAmplitudes(cosine: number, cosineSquare: number, ratio: number): readonly [Complex, Complex] {
  if (cosineSquare > 0) {
    const cosineOut = Math.sqrt(cosineSquare)
    return [
      [(ratio * cosine - cosineOut) / (ratio * cosine + cosineOut), 0],
      [(cosine - ratio * cosineOut) / (cosine + ratio * cosineOut), 0],
    ]
  }
  // Total reflection: behind the plane the cosine is imaginary, and the field decays (evanescent wave).
  const cosineOut = Math.sqrt(-cosineSquare)
  return [
    quotient([ratio * cosine, -cosineOut], [ratio * cosine, cosineOut]),
    quotient([cosine, -ratio * cosineOut], [cosine, ratio * cosineOut]),
  ]
}

const component = ({ re, im }: Field, axis: Vector3): Complex => [dot(re, axis), dot(im, axis)]
const norm = ([re, im]: Complex): number => re * re + im * im
const scale = ([re, im]: Complex, factor: number): Complex => [re * factor, im * factor]
const product = (a: Complex, b: Complex): Complex => [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]]
const quotient = (a: Complex, b: Complex): Complex => scale(product(a, [b[0], -b[1]]), 1 / norm(b))

function fieldOf(s: Complex, p: Complex, across: Vector3, along: Vector3, energy: number): Field {
  const squares = norm(s) + norm(p)
  const factor = squares > 0 ? Math.sqrt(energy / squares) : 0
  return {
    re: plus(times(across, s[0] * factor), times(along, p[0] * factor)),
    im: plus(times(across, s[1] * factor), times(along, p[1] * factor)),
  }
}
