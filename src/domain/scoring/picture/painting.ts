import { at, I, OX, OY, OZ, refractiveIndex, integerAt, type Ray } from '../light/optics.ts'
import type { View } from '../light/view.ts'
import { radians } from '../solid/facet.ts'
import type { CompanionRays, LightReceiver, BundleSums } from './ray-bundles.ts'
import { columnOf, rowOf } from './frame.ts'

const STEPS = 2048

/** Converts light to a screen value, with soft clipping of highlights and the screen's gamma. */
const toScreenValue = (light: number): number =>
  255 * Math.min(1, (light < 0.8 ? light : 1 - 0.2 * Math.exp(-(light - 0.8) / 0.2)) ** (1 / 2.2))

/** Screen values by the square root of light, over which they are almost linear: up to light 4, which is white. */
const values = Uint8ClampedArray.from({ length: 2 * STEPS }, (_, step) => toScreenValue(((step + 0.5) / STEPS) ** 2))

/** Screen value from 0 to 255 for light from 0 up; 1 is white. */
const valueOf = (light: number): number => (light > 0 ? (values[Math.floor(Math.sqrt(light) * STEPS)] ?? 255) : 0)

export type Lighting = 'face-up' | 'aset'

/**
 * The light of a screen colour (0 red, 1 green, 2 blue) that comes from a direction, z up, through the crown or through the rest of the
 * stone.
 */
export type LightSource = (channel: number, isCrown: boolean, x: number, y: number, z: number) => number

/** A ray's refractive index, and the screen colours computed from it. */
export type ColourRay = { readonly index: number; readonly channels: readonly number[]; readonly light: LightSource }

const HEAD = Math.cos(radians(12))
const LAMPS = 12
const LAMP_SIZE = Math.cos(radians(5))
const LAMP_HEIGHTS = [38, 52, 66].map(radians)

const lamps = Float64Array.from(
  Array.from({ length: LAMPS }, (_, index) => {
    const turn = (2 * Math.PI * index) / LAMPS + 0.13
    const height = LAMP_HEIGHTS[index % LAMP_HEIGHTS.length] ?? 0
    return [Math.cos(turn) * Math.cos(height), Math.sin(turn) * Math.cos(height), Math.sin(height)]
  }).flat(),
)

/** A room: a sky that is brightest at half height, the viewer's head overhead, small lamps that show fire, and a dim setting below. */
const room: LightSource = (_channel, isCrown, x, y, z) => {
  if (!isCrown || z <= 0) return 0.1
  if (z > HEAD) return 0.02
  for (let lamp = 0; lamp < 3 * LAMPS; lamp += 3) {
    if (at(lamps, lamp) * x + at(lamps, lamp + 1) * y + at(lamps, lamp + 2) * z > LAMP_SIZE) return 4
  }
  return 0.25 + 3 * z * z * (1 - z * z)
}

const RED = Float64Array.from([0.9, 0.05, 0.08])
const GREEN = Float64Array.from([0.1, 0.65, 0.15])
const BLUE = Float64Array.from([0.1, 0.2, 0.9])
const [FORTY_FIVE, SEVENTY_FIVE] = [Math.sin(radians(45)), Math.sin(radians(75))]

/** Angular Spectrum Evaluation Tool: green below 45° above the horizon, red from 45 to 75°, blue above (the head), white for leakage. */
const spectrum: LightSource = (channel, isCrown, _x, _y, z) => {
  if (!isCrown || z <= 0) return 1
  if (z > SEVENTY_FIVE) return at(BLUE, channel)
  return z > FORTY_FIVE ? at(RED, channel) : at(GREEN, channel)
}

/** A screen colour, computed at a representative wavelength in µm. */
const colourRay = (channel: number, wavelength: number): ColourRay => ({
  index: refractiveIndex(wavelength),
  channels: [channel],
  light: room,
})

/** The rays of each lighting. The first is followed to its end; the others use its path for their last part. */
export const lightings: Readonly<Record<Lighting, readonly [ColourRay, ColourRay?, ColourRay?]>> = {
  'face-up': [colourRay(1, 0.55), colourRay(0, 0.64), colourRay(2, 0.46)],
  aset: [{ index: refractiveIndex(0.5893), channels: [0, 1, 2], light: spectrum }],
}

/** A frame's position in an array of pixels with four bytes each: the array's width and the frame's first column. */
export type Canvas = { readonly pixels: Uint8ClampedArray; readonly width: number; readonly from: number }

/**
 * The tail of a ray is its path after at most `from` of its light is left. `brought`: for rays of the two other colours, the light that
 * their tail brings, as a fraction of the light at its start; two numbers per pixel.
 */
export type LightTails = { readonly from: number; readonly brought: Float64Array }

/** A ray to paint and its companions. `own`: index among the other colours; undefined for the first ray, which is followed to its end. */
export type PaintPass = {
  readonly lit: ColourRay
  readonly others: readonly ColourRay[]
  readonly own: 0 | 1 | undefined
}

/** Indices in a bundle's sums, after the three colours: the light when the tail began, and what the tail has brought for two other colours. */
const HELD = 3
const OTHERS = 4

/** Assumed brightness of light that is not followed further: the mean of our shapes, face-up. Less than LITTLE is not visible. */
const MEAN = 0.45
const LITTLE = 0.02

/** Paints the screen colours of rays with one refractive index. The lighting is fixed relative to the viewer while the stone is tilted. */
export class PixelPainter implements LightReceiver {
  readonly #values = new Uint8ClampedArray(3)

  constructor(
    private readonly canvas: Canvas,
    private readonly view: View,
    private readonly painted: PaintPass,
    private readonly tails: LightTails,
  ) {}

  onAttenuation(sums: BundleSums, ray: Ray): void {
    if (at(sums, HELD) === 0 && at(ray, I) <= this.tails.from) sums[HELD] = at(ray, I)
  }

  addLight(sums: BundleSums, ray: Ray, energy: number, isCrown: boolean, beside: CompanionRays): void {
    const { lit, others } = this.painted
    for (const channel of lit.channels) {
      const light = this.#lightFrom(channel, isCrown, at(ray, OX), at(ray, OY), at(ray, OZ))
      sums[channel] = at(sums, channel) + energy * light
    }
    if (at(sums, HELD) === 0) return
    const { outside } = beside
    for (let one = 0; one < others.length; one++) {
      if (at(outside, 4 * one + 3) === 0) continue
      const channel = others[one]?.channels[0] ?? 0
      const light = this.#lightFrom(
        channel,
        isCrown,
        at(outside, 4 * one),
        at(outside, 4 * one + 1),
        at(outside, 4 * one + 2),
      )
      sums[OTHERS + one] = at(sums, OTHERS + one) + energy * light
    }
  }

  #lightFrom(channel: number, isCrown: boolean, x: number, y: number, z: number): number {
    const { right, up, eye } = this.view
    return this.painted.lit.light(
      channel,
      isCrown,
      x * right[0] + y * right[1] + z * right[2],
      x * up[0] + y * up[1] + z * up[2],
      x * eye[0] + y * eye[1] + z * eye[2],
    )
  }

  paintSpots(sums: BundleSums, ray: Ray, spots: Int32Array, from: number, to: number): void {
    const { own } = this.painted
    if (own === undefined) this.#paintAlike(sums, at(ray, I), spots, from, to)
    else this.#paintWithTails(sums, at(ray, I), own, spots, from, to)
  }

  /** Paints all spots of a bundle in one colour, and stores their common tail for the other colours. */
  #paintAlike(sums: BundleSums, left: number, spots: Int32Array, from: number, to: number): void {
    const { pixels } = this.canvas
    const { channels } = this.painted.lit
    const { brought } = this.tails
    const rest = left > LITTLE ? MEAN * left : 0
    for (const channel of channels) this.#values[channel] = valueOf(at(sums, channel) + rest)
    const held = at(sums, HELD)
    const first = held > 0 ? (at(sums, OTHERS) + rest) / held : MEAN
    const second = held > 0 ? (at(sums, OTHERS + 1) + rest) / held : MEAN
    for (let place = from; place < to; place++) {
      const pixel = this.#pixelOf(integerAt(spots, place))
      brought[2 * pixel] = first
      brought[2 * pixel + 1] = second
      for (const channel of channels) pixels[4 * pixel + channel] = this.#values[channel] ?? 0
      pixels[4 * pixel + 3] = 255
    }
  }

  #paintWithTails(sums: BundleSums, left: number, own: 0 | 1, spots: Int32Array, from: number, to: number): void {
    const { pixels } = this.canvas
    for (let place = from; place < to; place++) {
      const pixel = this.#pixelOf(integerAt(spots, place))
      const rest = left * (left <= this.tails.from ? at(this.tails.brought, 2 * pixel + own) : MEAN)
      for (const channel of this.painted.lit.channels) {
        pixels[4 * pixel + channel] = valueOf(at(sums, channel) + rest)
      }
    }
  }

  #pixelOf(spot: number): number {
    return rowOf(spot) * this.canvas.width + this.canvas.from + columnOf(spot)
  }
}
