import { enter, meet, passFold } from './fresnel.ts'
import { at, whole } from './numbers.ts'
import { CROWN, FOLD, nearest, type Planes } from './planes.ts'
import { DX, DY, DZ, I, newRay, OX, OY, OZ, REACH, X, Y, Z, type Ray } from './ray.ts'

/**
 * One ray's way through a stone: where light left it, hit by hit. Made once and filled by every trace. Energies are parts
 * of the light that came; light that leaves is `energy[hit]`, 0 where all of it is reflected.
 */
export type Path = {
  readonly ray: Ray
  /** The plane met at each hit, the first from outside: planes[0] is the facet through which light entered. */
  readonly planes: Int32Array
  hits: number
  readonly energy: Float64Array
  /** Directions before each hit, inside, and after it, outside: three numbers a hit. */
  readonly inside: Float64Array
  readonly outside: Float64Array
  /** What the first facet reflected, and what was still inside when tracing stopped. */
  glare: number
  left: number
}

/** A ray that still holds light after so many hits is trapped: it is counted as left. */
const MOST_HITS = 400

export const newPath = (): Path => ({
  ray: newRay(),
  planes: new Int32Array(MOST_HITS),
  hits: 0,
  energy: new Float64Array(MOST_HITS),
  inside: new Float64Array(3 * MOST_HITS),
  outside: new Float64Array(3 * MOST_HITS),
  glare: 0,
  left: 0,
})

/** Where a trace starts: a point on a plane and the direction of the light towards it, in the path's ray. */
export function aim(path: Path, x: number, y: number, z: number, dx: number, dy: number, dz: number): void {
  const { ray } = path
  ray[X] = x
  ray[Y] = y
  ray[Z] = z
  ray[DX] = dx
  ray[DY] = dy
  ray[DZ] = dz
}

/**
 * Follows the aimed ray from outside through plane `first` until less than `cutOff` of its light is left inside.
 * By reciprocity an eye that looks along the aimed direction sees, of what comes from where light leaves, the same part.
 */
export function trace(path: Path, solid: Planes, first: number, index: number, cutOff: number): void {
  const { ray } = path
  const { planes, parts } = solid
  path.glare = enter(ray, at(planes, 4 * first), at(planes, 4 * first + 1), at(planes, 4 * first + 2), index)
  path.planes[0] = first
  path.energy[0] = 0
  let hit = 1
  let plane = first
  for (; hit < MOST_HITS && at(ray, I) > cutOff; hit++) {
    plane = nearest(solid, ray, plane)
    if (plane < 0) break
    advance(ray)
    keep(path.inside, hit, at(ray, DX), at(ray, DY), at(ray, DZ))
    const base = 4 * plane
    path.planes[hit] = plane
    if (whole(parts, plane) === FOLD) {
      passFold(ray, at(planes, base), at(planes, base + 1), at(planes, base + 2))
      path.energy[hit] = 0
      continue
    }
    path.energy[hit] = meet(ray, at(planes, base), at(planes, base + 1), at(planes, base + 2), index)
    keep(path.outside, hit, at(ray, OX), at(ray, OY), at(ray, OZ))
  }
  path.hits = hit
  path.left = at(ray, I)
}

/** Whether the light that a path meets at a hit comes from above, through the crown. */
export const isFromSky = ({ planes, outside }: Path, { parts }: Planes, hit: number): boolean =>
  whole(parts, whole(planes, hit)) === CROWN && at(outside, 3 * hit + 2) > 0

function advance(ray: Ray): void {
  const reach = at(ray, REACH)
  ray[X] = at(ray, X) + reach * at(ray, DX)
  ray[Y] = at(ray, Y) + reach * at(ray, DY)
  ray[Z] = at(ray, Z) + reach * at(ray, DZ)
}

function keep(vectors: Float64Array, hit: number, x: number, y: number, z: number): void {
  vectors[3 * hit] = x
  vectors[3 * hit + 1] = y
  vectors[3 * hit + 2] = z
}
