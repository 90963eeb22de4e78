import { at, whole } from '../light/numbers.ts'
import { I, OX, OY, OZ, type Ray } from '../light/ray.ts'
import type { View } from '../light/view.ts'
import type { Beside } from './beside.ts'
import type { Scene, Sums } from './bundles.ts'
import type { LitRay } from './lighting.ts'
import { columnOf, rowOf } from './spots.ts'
import { valueOf } from './value.ts'

/** Where in an array of pixels, four bytes each, a frame is: the array's width, and the frame's first column. */
export type Canvas = { readonly pixels: Uint8ClampedArray; readonly width: number; readonly from: number }

/**
 * A ray's tail is what it brings when no more than `from` of its light is left. Of rays that were not followed so far it is `brought`, as part
 * of that light: two numbers a pixel, for two colours.
 */
export type Tails = { readonly from: number; readonly brought: Float64Array }

/** What rays are painted, which others are taken along, and which of a picture's two others they are: undefined for the first, which is followed to its end. */
export type Painted = { readonly lit: LitRay; readonly others: readonly LitRay[]; readonly own: 0 | 1 | undefined }

/** Places of a bundle's sums behind the three colours: how much light it had when its tail began, and what that has brought of two others. */
const HELD = 3
const OTHERS = 4

/** What light that nobody followed brings, as part of itself: the mean of our shapes, face-up. So little does not show. */
const MEAN = 0.45
const LITTLE = 0.02

/** Paints the screen's colours that rays of one index bring. The lighting stays with the viewer while the stone leans. */
export class Painting implements Scene {
  readonly #values = new Uint8ClampedArray(3)

  constructor(
    private readonly canvas: Canvas,
    private readonly view: View,
    private readonly painted: Painted,
    private readonly tails: Tails,
  ) {}

  fades(sums: Sums, ray: Ray): void {
    if (at(sums, HELD) === 0 && at(ray, I) <= this.tails.from) sums[HELD] = at(ray, I)
  }

  shine(sums: Sums, ray: Ray, energy: number, isCrown: boolean, beside: Beside): void {
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

  paint(sums: Sums, ray: Ray, spots: Int32Array, from: number, to: number): void {
    const { own } = this.painted
    if (own === undefined) this.#paintAlike(sums, at(ray, I), spots, from, to)
    else this.#paintWithTails(sums, at(ray, I), own, spots, from, to)
  }

  /** All of a bundle have one colour, and one tail for the others. */
  #paintAlike(sums: Sums, left: number, spots: Int32Array, from: number, to: number): void {
    const { pixels } = this.canvas
    const { channels } = this.painted.lit
    const { brought } = this.tails
    const rest = left > LITTLE ? MEAN * left : 0
    for (const channel of channels) this.#values[channel] = valueOf(at(sums, channel) + rest)
    const held = at(sums, HELD)
    const first = held > 0 ? (at(sums, OTHERS) + rest) / held : MEAN
    const second = held > 0 ? (at(sums, OTHERS + 1) + rest) / held : MEAN
    for (let place = from; place < to; place++) {
      const pixel = this.#pixelOf(whole(spots, place))
      brought[2 * pixel] = first
      brought[2 * pixel + 1] = second
      for (const channel of channels) pixels[4 * pixel + channel] = this.#values[channel] ?? 0
      pixels[4 * pixel + 3] = 255
    }
  }

  #paintWithTails(sums: Sums, left: number, own: 0 | 1, spots: Int32Array, from: number, to: number): void {
    const { pixels } = this.canvas
    for (let place = from; place < to; place++) {
      const pixel = this.#pixelOf(whole(spots, place))
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
