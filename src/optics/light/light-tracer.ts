import { radians } from '../solid/facet.ts'
import { BLUR_DEGREES, RING, sky } from './sky.ts'
import type { PlaneSet } from './planes.ts'
import { at } from './typed-arrays.ts'
import code from './tracer.json' with { type: 'json' }

/** Single precision in WebAssembly, double in the plain tracer. */
type Numbers = Float32Array | Float64Array

/**
 * A batch of rays from an eye, and what it sees along each: one array per property. Lengths in widths of the stone; energies are fractions
 * of the light that an eye would send along the ray.
 */
export type RayBatch = {
  /** A point on the ray's line. */
  readonly x: Numbers
  readonly y: Numbers
  readonly z: Numbers
  /** Its direction, away from the eye. */
  readonly dx: Numbers
  readonly dy: Numbers
  readonly dz: Numbers
  /**
   * The plane on which the point lies, through which the ray enters; -1 if the point lies outside, before the plane is known. It is then
   * replaced by the plane, and stays -1 if the ray misses the stone.
   */
  readonly entryPlane: Int32Array
  /** The results, which stay as they were for rays that miss. Light of the sky around the eye, by the brightness of its zones. */
  readonly brightness: Numbers
  /** The angle between two colours beyond what an eye blurs, times the energy. Degrees. */
  readonly fire: Numbers
  /** Energy from below the stone, through the pavilion, or from behind the eye. */
  readonly leak: Numbers
  /** Energy from above through the crown. */
  readonly fromSky: Numbers
  /** Neighbouring rays with the same number belong to the same flash: their brightest light takes the same path. */
  readonly flash: Int32Array
}

/**
 * `index`: refractive index; `cutOff`: remaining energy at which a ray is abandoned; `degrees`: degrees between two colours for an angular
 * dispersion of one radian per unit of index.
 */
export type Light = { readonly index: number; readonly cutOff: number; readonly degrees: number }

export type LightTracer = {
  /** Number of rays that fit into the batch. */
  readonly capacity: number
  readonly rays: RayBatch
  /** Light by angular distance from the eye, per ring of the sky: a sum over all rays that were traced since it was set to 0. */
  readonly rings: Float64Array
  /** @throws RangeError if the stone has too many planes */
  readonly setUp: (planes: PlaneSet, light: Light) => void
  /** Traces the first `count` rays of the batch. */
  readonly trace: (count: number) => void
}

/** What this file needs of Node's WebAssembly, which the libraries of this TypeScript configuration don't declare. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object) => { readonly exports: unknown }
}

/** The exports of tracer/assembly/tracer.ts. */
type TracerCode = {
  readonly memory: { readonly buffer: ArrayBuffer }
  readonly setParts: (pavilionFrom: number, foldFrom: number, girdleFrom: number, count: number) => void
  readonly setInnerEllipse: (across: number, along: number, middle: number) => void
  readonly setLight: (index: number, cutOff: number, degrees: number, blur: number) => void
  readonly setSky: (headCosine: number, brightCosine: number, sideBrightness: number) => void
  readonly trace: (count: number) => void
} & Readonly<Record<ArrayName | 'MAX_RAYS' | 'MAX_PLANES' | 'RINGS', { readonly value: number }>>

/** Exported addresses of arrays. */
type ArrayName =
  | 'X'
  | 'Y'
  | 'Z'
  | 'DX'
  | 'DY'
  | 'DZ'
  | 'ENTRY'
  | 'BRIGHTNESS'
  | 'FIRE'
  | 'LEAK'
  | 'FROM_SKY'
  | 'FLASH'
  | 'NORMAL_X'
  | 'NORMAL_Y'
  | 'NORMAL_Z'
  | 'OFFSET'
  | 'RING_COSINES'
  | 'RING_LIGHT'

/** The tracer in WebAssembly, built from tracer/. Every thread has its own; it is not reentrant. */
function openLightTracer(): LightTracer {
  const module = new WebAssembly.Module(Buffer.from(code.wasm, 'base64'))
  const wasm = new WebAssembly.Instance(module).exports as TracerCode
  const { buffer } = wasm.memory
  const [capacity, maxPlanes, ringCount] = [wasm.MAX_RAYS.value, wasm.MAX_PLANES.value, wasm.RINGS.value]
  const numbers = (name: ArrayName, length: number) => new Float32Array(buffer, wasm[name].value, length)
  const integers = (name: ArrayName) => new Int32Array(buffer, wasm[name].value, capacity)
  const planeArrays = (['NORMAL_X', 'NORMAL_Y', 'NORMAL_Z', 'OFFSET'] as const).map((name) => numbers(name, maxPlanes))
  numbers('RING_COSINES', ringCount).set(
    Array.from({ length: ringCount }, (_, ring) => Math.cos(radians(RING * (ring + 1)))),
  )
  wasm.setSky(Math.cos(radians(sky.headAngle)), Math.cos(radians(sky.brightAngle)), sky.sideBrightness)

  /** The planes are padded to a multiple of four with planes that no ray meets. */
  function setPlanes({ planes, pavilionFrom, foldFrom, girdleFrom, count }: PlaneSet): void {
    if (count > maxPlanes) throw new RangeError(`A stone has at most ${maxPlanes} planes, not ${count}`)
    const paddedCount = Math.ceil(count / 4) * 4
    for (const [part, array] of planeArrays.entries()) {
      for (let plane = 0; plane < count; plane++) array[plane] = at(planes, 4 * plane + part)
      array.fill(part === 3 ? 1 : 0, count, paddedCount)
    }
    wasm.setParts(pavilionFrom, foldFrom, girdleFrom, paddedCount)
  }

  return {
    capacity,
    rays: {
      x: numbers('X', capacity),
      y: numbers('Y', capacity),
      z: numbers('Z', capacity),
      dx: numbers('DX', capacity),
      dy: numbers('DY', capacity),
      dz: numbers('DZ', capacity),
      entryPlane: integers('ENTRY'),
      brightness: numbers('BRIGHTNESS', capacity),
      fire: numbers('FIRE', capacity),
      leak: numbers('LEAK', capacity),
      fromSky: numbers('FROM_SKY', capacity),
      flash: integers('FLASH'),
    },
    rings: new Float64Array(buffer, wasm.RING_LIGHT.value, ringCount),
    setUp(planes, { index, cutOff, degrees }) {
      setPlanes(planes)
      wasm.setInnerEllipse(1 / planes.inner.across, 1 / planes.inner.along, planes.inner.middle)
      wasm.setLight(index, cutOff, degrees, BLUR_DEGREES)
    },
    trace: wasm.trace,
  }
}

export const lightTracer = openLightTracer()
