import { lightTracer, type LightTracer } from './light-tracer.ts'
import { at, integerAt } from './typed-arrays.ts'
import { chooseTriangle, sample, type CrownTarget } from './view.ts'

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
 * Points on the whole crown and directions from them to an eye. Calls `onRay` with the point, the direction, the plane of the point, and
 * the ray's share of the light that a uniform sky sends onto the crown. `point` and `eye` are reused for the next ray.
 */
export function forEachEyeRay(
  target: CrownTarget,
  samples: number,
  sampleDirection: DirectionSampler,
  onRay: (point: Float64Array, eye: Float64Array, plane: number, share: number) => void,
): void {
  const coordinates = new Float64Array(4)
  const point = new Float64Array(3)
  const eye = new Float64Array(3)
  const { planes } = target.planes
  const unit = target.area / target.flux / samples
  for (let index = 0; index < samples; index++) {
    sample(coordinates, index)
    const triangle = chooseTriangle(target, coordinates)
    const plane = integerAt(target.plane, triangle)
    const base = 4 * plane
    const [u, v] = [at(coordinates, 2), at(coordinates, 3)]
    const weight = sampleDirection(eye, at(planes, base), at(planes, base + 1), at(planes, base + 2), u, v)
    if (weight === 0) continue
    pointOn(point, target.triangles, 9 * triangle, coordinates)
    onRay(point, eye, plane, weight * unit)
  }
}

function pointOn(point: Float64Array, triangles: Float64Array, base: number, coordinates: Float64Array): void {
  const root = Math.sqrt(at(coordinates, 0))
  const a = root * (1 - at(coordinates, 1))
  const b = root * at(coordinates, 1)
  for (let axis = 0; axis < 3; axis++)
    point[axis] = at(triangles, base + axis) + a * at(triangles, base + 3 + axis) + b * at(triangles, base + 6 + axis)
}

/**
 * The fraction of a uniform sky's light on the crown that returns through it, weighted by the squared cosine of the exit angle
 * (Hemphill et al., Gems & Gemology 34(3), 1998). Without glare.
 */
export function weightedLightReturn(
  target: CrownTarget,
  { samples, index, cutOff }: SamplingOptions,
  tracer: LightTracer = lightTracer,
): number {
  tracer.setUp(target.planes, { index, cutOff, degrees: 0 })
  const { rays, capacity } = tracer
  const weights = new Float64Array(capacity)
  let [count, weighted] = [0, 0]
  const traceBatch = () => {
    tracer.trace(count)
    for (let ray = 0; ray < count; ray++) weighted += at(weights, ray) * (rays.fromSky[ray] ?? 0)
    count = 0
  }
  forEachEyeRay(target, samples, sampleWholeSky, (point, eye, plane, share) => {
    rays.x[count] = at(point, 0)
    rays.y[count] = at(point, 1)
    rays.z[count] = at(point, 2)
    rays.dx[count] = -at(eye, 0)
    rays.dy[count] = -at(eye, 1)
    rays.dz[count] = -at(eye, 2)
    rays.entryPlane[count] = plane
    weights[count] = share * at(eye, 2) ** 2
    count++
    if (count === capacity) traceBatch()
  })
  traceBatch()
  return weighted
}
