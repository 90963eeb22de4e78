import { at, whole } from './numbers.ts'
import type { Planes } from './planes.ts'
import type { Path } from './trace.ts'

/**
 * How fast the direction in which light reaches the eye turns with the refractive index, in radians per unit of index, for
 * light that comes in where the path left the stone at `hit`: times an index difference, the angle between two colours.
 * Refraction at both ends depends on the index, the reflections between only carry the difference on.
 */
export function separation(path: Path, { planes }: Planes, hit: number, index: number): number {
  const base = 4 * whole(path.planes, hit)
  const nx = at(planes, base)
  const ny = at(planes, base + 1)
  const nz = at(planes, base + 2)
  const ux = at(path.inside, 3 * hit)
  const uy = at(path.inside, 3 * hit + 1)
  const uz = at(path.inside, 3 * hit + 2)
  const cosine = ux * nx + uy * ny + uz * nz
  const back = 1 / (index * cosine)
  let x = nx * back - ux / index
  let y = ny * back - uy / index
  let z = nz * back - uz / index
  for (let before = hit - 1; before > 0; before--) {
    const mirror = 4 * whole(path.planes, before)
    const mx = at(planes, mirror)
    const my = at(planes, mirror + 1)
    const mz = at(planes, mirror + 2)
    const twice = 2 * (x * mx + y * my + z * mz)
    x -= twice * mx
    y -= twice * my
    z -= twice * mz
  }
  return leaving(path, planes, index, x, y, z)
}

/** The last refraction: how fast the direction outside turns when the one inside turns by (x y z). */
function leaving(path: Path, planes: Float64Array, index: number, x: number, y: number, z: number): number {
  const base = 4 * whole(path.planes, 0)
  const nx = at(planes, base)
  const ny = at(planes, base + 1)
  const nz = at(planes, base + 2)
  const ux = at(path.inside, 3)
  const uy = at(path.inside, 4)
  const uz = at(path.inside, 5)
  const cosine = ux * nx + uy * ny + uz * nz
  const turn = x * nx + y * ny + z * nz
  const tx = ux - cosine * nx
  const ty = uy - cosine * ny
  const tz = uz - cosine * nz
  const wx = tx + index * (x - turn * nx)
  const wy = ty + index * (y - turn * ny)
  const wz = tz + index * (z - turn * nz)
  const outside = 1 - index * index * (1 - cosine * cosine)
  const across = index * (tx * wx + ty * wy + tz * wz)
  return Math.sqrt(wx * wx + wy * wy + wz * wz + (across * across) / outside)
}
