import type { PlaneSet } from '../../../src/optics/light/planes.ts'
import { DX, DY, DZ, DISTANCE, X, Y, Z, type Ray } from '../../../src/optics/light/ray.ts'
import { at } from '../../../src/optics/light/typed-arrays.ts'

/** The first plane that a ray from inside meets, other than `from`; -1 if there is none. Stores the distance in the ray. */
export function nearestPlane({ planes, count }: PlaneSet, ray: Ray, from: number): number {
  const x = at(ray, X)
  const y = at(ray, Y)
  const z = at(ray, Z)
  const dx = at(ray, DX)
  const dy = at(ray, DY)
  const dz = at(ray, DZ)
  let nearest = -1
  let distance = Infinity
  for (let plane = 0; plane < count; plane++) {
    const base = 4 * plane
    const nx = at(planes, base)
    const ny = at(planes, base + 1)
    const nz = at(planes, base + 2)
    const speed = nx * dx + ny * dy + nz * dz
    const gap = at(planes, base + 3) - nx * x - ny * y - nz * z
    if (speed > 0 && plane !== from && gap < distance * speed) {
      nearest = plane
      distance = gap / speed
    }
  }
  ray[DISTANCE] = distance
  return nearest
}
