import { at, integerAt } from './typed-arrays.ts'
import type { PlaneSet } from './planes.ts'
import { chooseTriangle, sample, type CrownTarget } from './view.ts'
import { aim, isFromSky, newPath, trace, type LightPath } from './trace.ts'

/** `samples`: number of eye rays; `index`: refractive index; `cutOff`: remaining energy at which a ray is abandoned. */
export type SamplingOptions = { readonly samples: number; readonly index: number; readonly cutOff: number }

/** Writes a direction to the eye, from a point of a facet with this normal, to `eye`. Returns its weight, 0 to skip the sample. */
export type DirectionSampler = (eye: Float64Array, nx: number, ny: number, nz: number, u: number, v: number) => number

/** Directions distributed like the light of a uniform matt surface on the facet; those below the horizon have weight 0. */
export const sampleWholeSky: DirectionSampler = (eye, nx, ny, nz, u, v) => {
  const radius = Math.sqrt(u)
  const height = Math.sqrt(1 - u)
  const x = radius * Math.cos(2 * Math.PI * v)
  const y = radius * Math.sin(2 * Math.PI * v)
  const lean = 1 / (1 + nz)
  eye[0] = x * (1 - nx * nx * lean) - y * nx * ny * lean + height * nx
  eye[1] = y * (1 - ny * ny * lean) - x * nx * ny * lean + height * ny
  eye[2] = height * nz - x * nx - y * ny
  return at(eye, 2) > 0 ? Math.PI : 0
}

/**
 * Traces eye rays backwards from points on the whole crown. Calls `onPath` with each path and the ray's share of the light that a uniform
 * sky sends onto the crown. `eye` is the direction to the eye. `path` and `eye` are reused for the next ray.
 */
export function traceEyeRays(
  target: CrownTarget,
  sampling: SamplingOptions,
  sampleDirection: DirectionSampler,
  onPath: (path: LightPath, share: number, eye: Float64Array) => void,
): void {
  const coordinates = new Float64Array(4)
  const eye = new Float64Array(3)
  const path = newPath()
  const { planes } = target.planes
  const unit = target.area / target.flux / sampling.samples
  for (let index = 0; index < sampling.samples; index++) {
    sample(coordinates, index)
    const triangle = chooseTriangle(target, coordinates)
    const plane = integerAt(target.plane, triangle)
    const base = 4 * plane
    const [u, v] = [at(coordinates, 2), at(coordinates, 3)]
    const weight = sampleDirection(eye, at(planes, base), at(planes, base + 1), at(planes, base + 2), u, v)
    if (weight === 0) continue
    aimAt(path, target.triangles, 9 * triangle, coordinates, eye)
    trace(path, target.planes, plane, sampling.index, sampling.cutOff)
    onPath(path, weight * unit, eye)
  }
}

function aimAt(
  path: LightPath,
  triangles: Float64Array,
  base: number,
  coordinates: Float64Array,
  eye: Float64Array,
): void {
  const root = Math.sqrt(at(coordinates, 0))
  const a = root * (1 - at(coordinates, 1))
  const b = root * at(coordinates, 1)
  const coordinate = (axis: number) =>
    at(triangles, base + axis) + a * at(triangles, base + 3 + axis) + b * at(triangles, base + 6 + axis)
  aim(path, coordinate(0), coordinate(1), coordinate(2), -at(eye, 0), -at(eye, 1), -at(eye, 2))
}

/**
 * The fraction of a uniform sky's light on the crown that returns through it, weighted by the squared cosine of the exit angle
 * (Hemphill et al., Gems & Gemology 34(3), 1998). Without glare.
 */
export function weightedLightReturn(target: CrownTarget, sampling: SamplingOptions): number {
  let weighted = 0
  traceEyeRays(target, sampling, sampleWholeSky, (path, share, eye) => {
    weighted += share * returnOf(path, target.planes) * at(eye, 2) ** 2
  })
  return weighted
}

/** The fraction of an eye ray's light that comes from the sky through the crown. */
function returnOf(path: LightPath, planes: PlaneSet): number {
  let sum = 0
  for (let hit = 1; hit < path.hits; hit++) {
    const energy = at(path.energy, hit)
    if (energy !== 0 && isFromSky(path, planes, hit)) sum += energy
  }
  return sum
}
