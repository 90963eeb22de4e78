import type { PlaneSet } from '../../../src/optics/light/planes.ts'
import { DX, DY, DZ, DISTANCE, X, Y, Z, type Ray } from '../../../src/optics/light/ray.ts'
import { at } from '../../../src/optics/light/typed-arrays.ts'

/**
 * The first plane that a ray from inside meets, other than `from`; stores the distance in the ray.
 * A rising ray that meets the crown above the pavilion's highest point and within the inner ellipse cannot have met another plane before,
 * and likewise downwards. This saves most rays the search through half of the planes.
 */
export function nearestPlane(solid: PlaneSet, ray: Ray, from: number): number {
  const { planes, pavilionFrom, girdleFrom, foldFrom, count } = solid
  const rises = at(ray, DZ) > 0
  ray[DISTANCE] = FAR
  let nearest = foldFrom < girdleFrom ? search(planes, ray, from, foldFrom, girdleFrom, -1) : -1
  nearest = rises
    ? search(planes, ray, from, 0, pavilionFrom, nearest)
    : search(planes, ray, from, pavilionFrom, foldFrom, nearest)
  const distance = at(ray, DISTANCE)
  const z = at(ray, Z) + distance * at(ray, DZ)
  const isWithinEllipse = isWithin(solid, at(ray, X) + distance * at(ray, DX), at(ray, Y) + distance * at(ray, DY))
  if (isWithinEllipse && (rises ? z > solid.pavilionTop : z < solid.crownBottom)) return nearest
  nearest = rises
    ? search(planes, ray, from, pavilionFrom, foldFrom, nearest)
    : search(planes, ray, from, 0, pavilionFrom, nearest)
  return isWithinEllipse ? nearest : search(planes, ray, from, girdleFrom, count, nearest)
}

function isWithin({ inner }: PlaneSet, x: number, y: number): boolean {
  const along = y - inner.middle
  return (x * x) / inner.across + (along * along) / inner.along < 1
}

/** Compares distances (gap over speed) by cross-multiplication, which avoids divisions and mispredicted branches. */
function search(planes: Float64Array, ray: Ray, from: number, first: number, end: number, nearest: number): number {
  const x = at(ray, X)
  const y = at(ray, Y)
  const z = at(ray, Z)
  const dx = at(ray, DX)
  const dy = at(ray, DY)
  const dz = at(ray, DZ)
  let bestGap = at(ray, DISTANCE)
  let bestSpeed = 1
  let best = nearest
  for (let plane = first; plane < end; plane++) {
    const base = 4 * plane
    const nx = at(planes, base)
    const ny = at(planes, base + 1)
    const nz = at(planes, base + 2)
    const speed = nx * dx + ny * dy + nz * dz
    const gap = at(planes, base + 3) - nx * x - ny * y - nz * z
    if (speed * bestGap > bestSpeed * gap && speed > 0 && plane !== from) {
      bestGap = gap
      bestSpeed = speed
      best = plane
    }
  }
  ray[DISTANCE] = bestGap / bestSpeed
  return best
}

/** Larger than any stone. */
const FAR = 100
