import { at, integerAt } from '../light/typed-arrays.ts'
import { I, OX, OY, OZ, type Ray } from '../light/ray.ts'
import { refractiveIndex } from '../light/diamond-material.ts'
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
type LightSource = (channel: number, isCrown: boolean, x: number, y: number, z: number) => number

/** A ray's refractive index, and the screen colours computed from it. */
type ColourRay = { readonly index: number; readonly channels: readonly number[]; readonly light: LightSource }

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
const roomLight: LightSource = (_channel, isCrown, x, y, z) => {
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
const [SINE_45, SINE_75] = [Math.sin(radians(45)), Math.sin(radians(75))]

/** Angular Spectrum Evaluation Tool: green below 45° above the horizon, red from 45 to 75°, blue above (the head), white for leakage. */
const asetLight: LightSource = (channel, isCrown, _x, _y, z) => {
  if (!isCrown || z <= 0) return 1
  if (z > SINE_75) return at(BLUE, channel)
  return z > SINE_45 ? at(RED, channel) : at(GREEN, channel)
}

/** A screen colour, computed at a representative wavelength in µm. */
const colourRay = (channel: number, wavelength: number): ColourRay => ({
  index: refractiveIndex(wavelength),
  channels: [channel],
  light: roomLight,
})

/** The rays of each lighting. The first is followed to its end; the others use its path for their last part. */
export const lightings: Readonly<Record<Lighting, readonly [ColourRay, ColourRay?, ColourRay?]>> = {
  'face-up': [colourRay(1, 0.55), colourRay(0, 0.64), colourRay(2, 0.46)],
  aset: [{ index: refractiveIndex(0.5893), channels: [0, 1, 2], light: asetLight }],
}

/** A frame's position in an array of pixels with four bytes each: the array's width and the frame's first column. */
export type Canvas = { readonly pixels: Uint8ClampedArray; readonly width: number; readonly firstColumn: number }

/**
 * The tail of a ray is its path after at most `threshold` of its light is left. `tailLight`: for rays of the two other colours, the light that
 * their tail brings, as a fraction of the light at its start; two numbers per pixel.
 */
type LightTails = { readonly threshold: number; readonly tailLight: Float64Array }

/** A ray to paint and its companions. `companionIndex`: index among the other colours; undefined for the first ray, which is followed to its end. */
export type PaintPass = {
  readonly main: ColourRay
  readonly companions: readonly ColourRay[]
  readonly companionIndex: 0 | 1 | undefined
}

/** Indices in a bundle's sums, after the three colours: the light when the tail began, and what the tail has brought for two other colours. */
const TAIL_START_LIGHT = 3
const COMPANION_LIGHT = 4

/** Assumed brightness of light that is not followed further: the mean of our shapes, face-up. Less than MIN_VISIBLE_LIGHT is not visible. */
const MEAN_BRIGHTNESS = 0.45
const MIN_VISIBLE_LIGHT = 0.02

/** Paints the screen colours of rays with one refractive index. The lighting is fixed relative to the viewer while the stone is tilted. */
export class PixelPainter implements LightReceiver {
  readonly #values = new Uint8ClampedArray(3)

  constructor(
    private readonly canvas: Canvas,
    private readonly view: View,
    private readonly pass: PaintPass,
    private readonly tails: LightTails,
  ) {}

  onAttenuation(sums: BundleSums, ray: Ray): void {
    if (at(sums, TAIL_START_LIGHT) === 0 && at(ray, I) <= this.tails.threshold) sums[TAIL_START_LIGHT] = at(ray, I)
  }

  addLight(sums: BundleSums, ray: Ray, energy: number, isCrown: boolean, companionRays: CompanionRays): void {
    const { main, companions } = this.pass
    for (const channel of main.channels) {
      const light = this.#lightFrom(channel, isCrown, at(ray, OX), at(ray, OY), at(ray, OZ))
      sums[channel] = at(sums, channel) + energy * light
    }
    if (at(sums, TAIL_START_LIGHT) === 0) return
    const { outside } = companionRays
    for (let companion = 0; companion < companions.length; companion++) {
      if (at(outside, 4 * companion + 3) === 0) continue
      const channel = companions[companion]?.channels[0] ?? 0
      const light = this.#lightFrom(
        channel,
        isCrown,
        at(outside, 4 * companion),
        at(outside, 4 * companion + 1),
        at(outside, 4 * companion + 2),
      )
      sums[COMPANION_LIGHT + companion] = at(sums, COMPANION_LIGHT + companion) + energy * light
    }
  }

  #lightFrom(channel: number, isCrown: boolean, x: number, y: number, z: number): number {
    const { right, up, eye } = this.view
    return this.pass.main.light(
      channel,
      isCrown,
      x * right[0] + y * right[1] + z * right[2],
      x * up[0] + y * up[1] + z * up[2],
      x * eye[0] + y * eye[1] + z * eye[2],
    )
  }

  paintSpots(sums: BundleSums, ray: Ray, spots: Int32Array, from: number, to: number): void {
    const { companionIndex } = this.pass
    if (companionIndex === undefined) this.#paintUniformly(sums, at(ray, I), spots, from, to)
    else this.#paintWithTails(sums, at(ray, I), companionIndex, spots, from, to)
  }

  /** Paints all spots of a bundle in one colour, and stores their common tail for the other colours. */
  #paintUniformly(sums: BundleSums, remainingLight: number, spots: Int32Array, from: number, to: number): void {
    const { pixels } = this.canvas
    const { channels } = this.pass.main
    const { tailLight } = this.tails
    const remainder = remainingLight > MIN_VISIBLE_LIGHT ? MEAN_BRIGHTNESS * remainingLight : 0
    for (const channel of channels) this.#values[channel] = valueOf(at(sums, channel) + remainder)
    const startLight = at(sums, TAIL_START_LIGHT)
    const first = startLight > 0 ? (at(sums, COMPANION_LIGHT) + remainder) / startLight : MEAN_BRIGHTNESS
    const second = startLight > 0 ? (at(sums, COMPANION_LIGHT + 1) + remainder) / startLight : MEAN_BRIGHTNESS
    for (let index = from; index < to; index++) {
      const pixel = this.#pixelOf(integerAt(spots, index))
      tailLight[2 * pixel] = first
      tailLight[2 * pixel + 1] = second
      for (const channel of channels) pixels[4 * pixel + channel] = this.#values[channel] ?? 0
      pixels[4 * pixel + 3] = 255
    }
  }

  #paintWithTails(
    sums: BundleSums,
    remainingLight: number,
    companionIndex: 0 | 1,
    spots: Int32Array,
    from: number,
    to: number,
  ): void {
    const { pixels } = this.canvas
    for (let index = from; index < to; index++) {
      const pixel = this.#pixelOf(integerAt(spots, index))
      const remainder =
        remainingLight *
        (remainingLight <= this.tails.threshold
          ? at(this.tails.tailLight, 2 * pixel + companionIndex)
          : MEAN_BRIGHTNESS)
      for (const channel of this.pass.main.channels) {
        pixels[4 * pixel + channel] = valueOf(at(sums, channel) + remainder)
      }
    }
  }

  #pixelOf(spot: number): number {
    return rowOf(spot) * this.canvas.width + this.canvas.firstColumn + columnOf(spot)
  }
}
