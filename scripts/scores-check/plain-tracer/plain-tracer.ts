import { forEachEyeRay, type DirectionSampler, type SamplingOptions } from '../../../src/optics/light/light-return.ts'
import type { Light, LightTracer, RayBatch } from '../../../src/optics/light/light-tracer.ts'
import type { PlaneSet } from '../../../src/optics/light/planes.ts'
import { BLUR_DEGREES, RING, RINGS, sky } from '../../../src/optics/light/sky.ts'
import { at, integerAt } from '../../../src/optics/light/typed-arrays.ts'
import type { CrownTarget } from '../../../src/optics/light/view.ts'
import { radians } from '../../../src/optics/solid/facet.ts'
import { aimAlong } from './entry.ts'
import { aim, isFromSky, newPath, trace, type LightPath } from './light-path.ts'

const CAPACITY = 4096

/**
 * The light tracer as it is written down in a physics book: one ray at a time, in double precision. Slower, but it keeps every ray's path, and
 * shows what the tracer in WebAssembly must find.
 */
export function openPlainTracer(): LightTracer {
  const numbers = () => new Float64Array(CAPACITY)
  const integers = () => new Int32Array(CAPACITY)
  const rays: RayBatch = {
    x: numbers(),
    y: numbers(),
    z: numbers(),
    dx: numbers(),
    dy: numbers(),
    dz: numbers(),
    entryPlane: integers(),
    brightness: numbers(),
    fire: numbers(),
    leak: numbers(),
    fromSky: numbers(),
    flash: integers(),
  }
  const rings = new Float64Array(RINGS)
  const path = newPath()
  let [stone, light] = [undefined as PlaneSet | undefined, undefined as Light | undefined]
  return {
    capacity: CAPACITY,
    rays,
    rings,
    setUp: (planes, settings) => {
      stone = planes
      light = settings
    },
    trace(count) {
      if (stone === undefined || light === undefined) throw new Error('setUp must be called before')
      for (let ray = 0; ray < count; ray++) {
        rays.entryPlane[ray] = aimAtRay(rays, ray, stone, path)
        if (integerAt(rays.entryPlane, ray) >= 0) observe(rays, ray, stone, light, path, rings)
      }
    },
  }
}

/** Aims the path along a ray of the batch. Returns its plane of entry, -1 if it misses the stone. */
function aimAtRay(rays: RayBatch, ray: number, planes: PlaneSet, path: LightPath): number {
  const of = (numbers: RayBatch['x']) => numbers[ray] ?? 0
  const [x, y, z, dx, dy, dz] = [of(rays.x), of(rays.y), of(rays.z), of(rays.dx), of(rays.dy), of(rays.dz)]
  const entryPlane = integerAt(rays.entryPlane, ray)
  if (entryPlane < 0) return aimAlong(planes, path, x, y, z, dx, dy, dz)
  aim(path, x, y, z, dx, dy, dz)
  return entryPlane
}

function observe(
  rays: RayBatch,
  ray: number,
  planes: PlaneSet,
  { index, cutOff, degrees }: Light,
  path: LightPath,
  rings: Float64Array,
): void {
  const entryPlane = integerAt(rays.entryPlane, ray)
  const eye = [-(rays.dx[ray] ?? 0), -(rays.dy[ray] ?? 0), -(rays.dz[ray] ?? 0)] as const
  trace(path, planes, entryPlane, index, cutOff)
  let [brightness, fire, leak, fromSky, brightest] = [0, 0, 0, 0, 0]
  rays.flash[ray] = entryPlane
  for (let hit = 1; hit < path.hits; hit++) {
    const energy = at(path.energy, hit)
    if (energy === 0) continue
    if (energy > brightest) {
      brightest = energy
      rays.flash[ray] = hashPath(path, hit)
    }
    if (isFromSky(path, planes, hit)) fromSky += energy
    const angle = angleFromEye(path, planes, hit, eye)
    if (angle >= 90) {
      leak += energy
      continue
    }
    const ring = Math.min(RINGS - 1, Math.floor(angle / RING))
    rings[ring] = at(rings, ring) + energy
    if (angle < sky.headAngle) continue
    brightness += energy * (angle < sky.brightAngle ? 1 : sky.sideBrightness)
    fire += energy * Math.max(0, angularDispersion(path, planes, hit, index) * degrees - BLUR_DEGREES)
  }
  rays.brightness[ray] = brightness
  rays.fire[ray] = fire
  rays.leak[ray] = leak
  rays.fromSky[ray] = fromSky
}

/** The angle in degrees between the eye and the light of a hit; 180 if it comes from below or through the pavilion. */
function angleFromEye(path: LightPath, planes: PlaneSet, hit: number, eye: readonly [number, number, number]): number {
  if (!isFromSky(path, planes, hit)) return 180
  const { outside } = path
  const cosine = at(outside, 3 * hit) * eye[0] + at(outside, 3 * hit + 1) * eye[1] + at(outside, 3 * hit + 2) * eye[2]
  return Math.acos(Math.min(1, cosine)) / radians(1)
}

function hashPath({ planes }: LightPath, hit: number): number {
  let hash = integerAt(planes, 0)
  for (let before = 1; before <= hit; before++) hash = (Math.imul(hash, 31) + integerAt(planes, before)) | 0
  return hash
}

/**
 * Angular dispersion at the eye, in radians per unit of refractive index, for light that enters where the path left the stone at `hit`.
 * Multiplied by an index difference it is the angle between two colours. Refraction at entry and exit depends on the index; reflections
 * only propagate the difference.
 */
export function angularDispersion(path: LightPath, { planes }: PlaneSet, hit: number, index: number): number {
  const base = 4 * integerAt(path.planes, hit)
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
    const mirror = 4 * integerAt(path.planes, before)
    const mx = at(planes, mirror)
    const my = at(planes, mirror + 1)
    const mz = at(planes, mirror + 2)
    const twice = 2 * (x * mx + y * my + z * mz)
    x -= twice * mx
    y -= twice * my
    z -= twice * mz
  }
  return exitDispersion(path, planes, index, x, y, z)
}

/** The refraction at the exit: the change of the outside direction for a change (x y z) of the inside direction. */
function exitDispersion(path: LightPath, planes: Float64Array, index: number, x: number, y: number, z: number): number {
  const base = 4 * integerAt(path.planes, 0)
  const nx = at(planes, base)
  const ny = at(planes, base + 1)
  const nz = at(planes, base + 2)
  const ux = at(path.inside, 3)
  const uy = at(path.inside, 4)
  const uz = at(path.inside, 5)
  const cosine = ux * nx + uy * ny + uz * nz
  const normalComponent = x * nx + y * ny + z * nz
  const tx = ux - cosine * nx
  const ty = uy - cosine * ny
  const tz = uz - cosine * nz
  const wx = tx + index * (x - normalComponent * nx)
  const wy = ty + index * (y - normalComponent * ny)
  const wz = tz + index * (z - normalComponent * nz)
  const outside = 1 - index * index * (1 - cosine * cosine)
  const across = index * (tx * wx + ty * wy + tz * wz)
  return Math.sqrt(wx * wx + wy * wy + wz * wz + (across * across) / outside)
}

/** Calls `onPath` with the path of each eye ray and its share of the light that a uniform sky sends onto the crown. `path` is reused. */
export function traceEyeRays(
  target: CrownTarget,
  { samples, index, cutOff }: SamplingOptions,
  sampleDirection: DirectionSampler,
  onPath: (path: LightPath, share: number) => void,
): void {
  const path = newPath()
  forEachEyeRay(target, samples, sampleDirection, (point, eye, plane, share) => {
    aim(path, at(point, 0), at(point, 1), at(point, 2), -at(eye, 0), -at(eye, 1), -at(eye, 2))
    trace(path, target.planes, plane, index, cutOff)
    onPath(path, share)
  })
}
