import { at } from './typed-arrays.ts'
import { DX, DY, DZ, I, OX, OY, OZ, Q, SX, SY, SZ, U, V, type Ray } from './ray.ts'

/**
 * Refracts unpolarised light of energy 1 from the air into the stone: updates the ray's direction, energy and polarisation. Returns the
 * fraction reflected by the outside of the facet.
 */
export function enterStone(ray: Ray, nx: number, ny: number, nz: number, index: number): number {
  const cosine = -(nx * at(ray, DX) + ny * at(ray, DY) + nz * at(ray, DZ))
  const inside = Math.sqrt(1 - (1 - cosine * cosine) / (index * index))
  ray[I] = 1
  ray[Q] = 0
  ray[U] = 0
  ray[V] = 0
  anyAxis(ray)
  align(ray, nx, ny, nz)
  const across = (4 * cosine * index * inside) / (cosine + index * inside) ** 2
  const along = (4 * cosine * index * inside) / (index * cosine + inside) ** 2
  ray[I] = (across + along) / 2
  ray[Q] = (across - along) / 2
  const bend = cosine / index - inside
  ray[DX] = at(ray, DX) / index + bend * nx
  ray[DY] = at(ray, DY) / index + bend * ny
  ray[DZ] = at(ray, DZ) / index + bend * nz
  const reflectedAcross = ((cosine - index * inside) / (cosine + index * inside)) ** 2
  const reflectedAlong = ((index * cosine - inside) / (index * cosine + inside)) ** 2
  return (reflectedAcross + reflectedAlong) / 2
}

/**
 * Reflects light at a facet from inside, by Fresnel's equations for both polarisations and with the phase shift of total reflection.
 * Returns the energy that leaves; its direction is stored in OX OY OZ.
 */
export function reflectInside(ray: Ray, nx: number, ny: number, nz: number, index: number): number {
  align(ray, nx, ny, nz)
  const cosine = nx * at(ray, DX) + ny * at(ray, DY) + nz * at(ray, DZ)
  const square = 1 - index * index * (1 - cosine * cosine)
  const energy =
    square > 0 ? refract(ray, cosine, Math.sqrt(square), index) : reflectTotally(ray, cosine, square, index)
  if (square > 0) {
    const bend = Math.sqrt(square) - index * cosine
    ray[OX] = index * at(ray, DX) + bend * nx
    ray[OY] = index * at(ray, DY) + bend * ny
    ray[OZ] = index * at(ray, DZ) + bend * nz
  }
  mirrorDirection(ray, nx, ny, nz, cosine)
  return energy
}

/** Continues the ray in the stone's other half by mirroring it. */
export function crossMirrorPlane(ray: Ray, nx: number, ny: number, nz: number): void {
  const cosine = nx * at(ray, DX) + ny * at(ray, DY) + nz * at(ray, DZ)
  const turn = 2 * (nx * at(ray, SX) + ny * at(ray, SY) + nz * at(ray, SZ))
  ray[SX] = at(ray, SX) - turn * nx
  ray[SY] = at(ray, SY) - turn * ny
  ray[SZ] = at(ray, SZ) - turn * nz
  ray[U] = -at(ray, U)
  ray[V] = -at(ray, V)
  mirrorDirection(ray, nx, ny, nz, cosine)
}

function mirrorDirection(ray: Ray, nx: number, ny: number, nz: number, cosine: number): void {
  ray[DX] = at(ray, DX) - 2 * cosine * nx
  ray[DY] = at(ray, DY) - 2 * cosine * ny
  ray[DZ] = at(ray, DZ) - 2 * cosine * nz
}

/** Partial reflection: keeps the reflected part in the ray and returns the energy that leaves. `outside`: cosine of the angle in air. */
function refract(ray: Ray, cosine: number, outside: number, index: number): number {
  const amplitudeAcross = (index * cosine - outside) / (index * cosine + outside)
  const amplitudeAlong = (cosine - index * outside) / (cosine + index * outside)
  const across = amplitudeAcross * amplitudeAcross
  const along = amplitudeAlong * amplitudeAlong
  const both = amplitudeAcross * amplitudeAlong
  const flow = 4 * index * cosine * outside
  const throughAcross = flow / (index * cosine + outside) ** 2
  const throughAlong = flow / (cosine + index * outside) ** 2
  const energy = at(ray, I)
  const linear = at(ray, Q)
  ray[I] = ((across + along) * energy + (across - along) * linear) / 2
  ray[Q] = ((across - along) * energy + (across + along) * linear) / 2
  ray[U] = both * at(ray, U)
  ray[V] = both * at(ray, V)
  return ((throughAcross + throughAlong) * energy + (throughAcross - throughAlong) * linear) / 2
}

/** Total reflection keeps the energy and shifts the relative phase of the two polarisations. */
function reflectTotally(ray: Ray, cosine: number, square: number, index: number): number {
  const ratio = 1 / (index * index)
  const depth = -square * ratio
  const real = ratio * cosine * cosine + depth
  const imaginary = cosine * Math.sqrt(depth) * (1 - ratio)
  const norm = real * real + imaginary * imaginary
  const cosineShift = (real * real - imaginary * imaginary) / norm
  const sineShift = (2 * real * imaginary) / norm
  const diagonal = at(ray, U)
  const circular = at(ray, V)
  ray[U] = cosineShift * diagonal + sineShift * circular
  ray[V] = cosineShift * circular - sineShift * diagonal
  return 0
}

/** Rotates the polarisation axis so that it is perpendicular to the plane of incidence. At normal incidence any axis is valid. */
function align(ray: Ray, nx: number, ny: number, nz: number): void {
  const dx = at(ray, DX)
  const dy = at(ray, DY)
  const dz = at(ray, DZ)
  let sx = dy * nz - dz * ny
  let sy = dz * nx - dx * nz
  let sz = dx * ny - dy * nx
  const square = sx * sx + sy * sy + sz * sz
  if (square < NORMAL) return
  const size = 1 / Math.sqrt(square)
  sx *= size
  sy *= size
  sz *= size
  const ox = at(ray, SX)
  const oy = at(ray, SY)
  const oz = at(ray, SZ)
  const cosine = ox * sx + oy * sy + oz * sz
  const sine = dx * (oy * sz - oz * sy) + dy * (oz * sx - ox * sz) + dz * (ox * sy - oy * sx)
  const twiceCosine = cosine * cosine - sine * sine
  const twiceSine = 2 * cosine * sine
  const linear = at(ray, Q)
  const diagonal = at(ray, U)
  ray[Q] = twiceCosine * linear + twiceSine * diagonal
  ray[U] = twiceCosine * diagonal - twiceSine * linear
  ray[SX] = sx
  ray[SY] = sy
  ray[SZ] = sz
}

const NORMAL = 1e-20

/** Sets any axis perpendicular to the ray, for unpolarised light. */
function anyAxis(ray: Ray): void {
  const size = Math.hypot(at(ray, DY), at(ray, DZ))
  ray[SX] = size > 1e-6 ? 0 : 1
  ray[SY] = size > 1e-6 ? at(ray, DZ) / size : 0
  ray[SZ] = size > 1e-6 ? -at(ray, DY) / size : 0
}
