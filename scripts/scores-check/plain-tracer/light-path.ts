import { DX, DY, DZ, DISTANCE, I, newRay, OX, OY, OZ, X, Y, Z, type Ray } from '../../../src/optics/light/ray.ts'
import { CROWN, FOLD, type PlaneSet } from '../../../src/optics/light/planes.ts'
import { crossMirrorPlane, enterStone, reflectInside } from '../../../src/optics/light/fresnel.ts'
import { at, integerAt } from '../../../src/optics/light/typed-arrays.ts'
import { nearestPlane } from './nearest-plane.ts'

/**
 * The path of one ray through a stone. Reused for every trace. Energies are fractions of the incident light; `energy[hit]` is the light
 * that leaves at a hit, 0 for total reflection.
 */
export type LightPath = {
  readonly ray: Ray
  /** The plane at each hit. planes[0] is the facet through which the light entered. */
  readonly planes: Int32Array
  hits: number
  readonly energy: Float64Array
  /** Directions inside before each hit, and outside after it: three numbers per hit. */
  readonly inside: Float64Array
  readonly outside: Float64Array
  /** The fraction reflected by the first facet, and the energy still inside when tracing stopped. */
  glare: number
  remainingEnergy: number
}

/** A ray that still has energy after this many hits is trapped; its energy counts as remaining. */
const MAX_HITS = 400

export const newPath = (): LightPath => ({
  ray: newRay(),
  planes: new Int32Array(MAX_HITS),
  hits: 0,
  energy: new Float64Array(MAX_HITS),
  inside: new Float64Array(3 * MAX_HITS),
  outside: new Float64Array(3 * MAX_HITS),
  glare: 0,
  remainingEnergy: 0,
})

/** Sets the starting point on a plane and the direction of the light towards it. */
export function aim(path: LightPath, x: number, y: number, z: number, dx: number, dy: number, dz: number): void {
  const { ray } = path
  ray[X] = x
  ray[Y] = y
  ray[Z] = z
  ray[DX] = dx
  ray[DY] = dy
  ray[DZ] = dz
}

/**
 * Follows the aimed ray through plane `entryPlane` until less than `cutOff` of its energy is left inside. By reciprocity, an eye looking in
 * this direction sees the same fractions of the light that enters where the path leaves the stone.
 */
export function trace(path: LightPath, solid: PlaneSet, entryPlane: number, index: number, cutOff: number): void {
  const { ray } = path
  const { planes, parts } = solid
  path.glare = enterStone(
    ray,
    at(planes, 4 * entryPlane),
    at(planes, 4 * entryPlane + 1),
    at(planes, 4 * entryPlane + 2),
    index,
  )
  path.planes[0] = entryPlane
  path.energy[0] = 0
  let hit = 1
  let plane = entryPlane
  for (; hit < MAX_HITS && at(ray, I) > cutOff; hit++) {
    plane = nearestPlane(solid, ray, plane)
    if (plane < 0) break
    advance(ray)
    storeVector(path.inside, hit, at(ray, DX), at(ray, DY), at(ray, DZ))
    const base = 4 * plane
    path.planes[hit] = plane
    if (integerAt(parts, plane) === FOLD) {
      crossMirrorPlane(ray, at(planes, base), at(planes, base + 1), at(planes, base + 2))
      path.energy[hit] = 0
      continue
    }
    path.energy[hit] = reflectInside(ray, at(planes, base), at(planes, base + 1), at(planes, base + 2), index)
    storeVector(path.outside, hit, at(ray, OX), at(ray, OY), at(ray, OZ))
  }
  path.hits = hit
  path.remainingEnergy = at(ray, I)
}

/** Whether the light that enters the path at a hit comes from above, through the crown. */
export const isFromSky = ({ planes, outside }: LightPath, { parts }: PlaneSet, hit: number): boolean =>
  integerAt(parts, integerAt(planes, hit)) === CROWN && at(outside, 3 * hit + 2) > 0

function advance(ray: Ray): void {
  const distance = at(ray, DISTANCE)
  ray[X] = at(ray, X) + distance * at(ray, DX)
  ray[Y] = at(ray, Y) + distance * at(ray, DY)
  ray[Z] = at(ray, Z) + distance * at(ray, DZ)
}

function storeVector(vectors: Float64Array, hit: number, x: number, y: number, z: number): void {
  vectors[3 * hit] = x
  vectors[3 * hit + 1] = y
  vectors[3 * hit + 2] = z
}
