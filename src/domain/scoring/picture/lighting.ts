import { at } from '../light/numbers.ts'
import { refractiveIndex } from '../light/optics.ts'
import { radians } from '../solid/vector.ts'

export type Lighting = 'face-up' | 'aset'

/**
 * How much of a screen colour (0 red, 1 green, 2 blue) comes from a direction, z up, through the crown or through the rest
 * of the stone.
 */
export type Light = (channel: number, isCrown: boolean, x: number, y: number, z: number) => number

/** One ray's index, and the screen colours that it brings. */
export type LitRay = { readonly index: number; readonly channels: readonly number[]; readonly light: Light }

const HEAD = Math.cos(radians(12))
const LAMPS = 12
const LAMP_SIZE = Math.cos(radians(5))
const LAMP_HEIGHTS = [38, 52, 66].map(radians)

/** Directions of the lamps, three numbers each. */
const lamps = Float64Array.from(
  Array.from({ length: LAMPS }, (_, index) => {
    const turn = (2 * Math.PI * index) / LAMPS + 0.13
    const height = LAMP_HEIGHTS[index % LAMP_HEIGHTS.length] ?? 0
    return [Math.cos(turn) * Math.cos(height), Math.sin(turn) * Math.cos(height), Math.sin(height)]
  }).flat(),
)

/** A room: a sky that is brightest half way up, a head overhead, small lamps that show fire, and a dim setting below. */
const room: Light = (_channel, isCrown, x, y, z) => {
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

/** Angular spectrum evaluation: red 45 to 75° over the horizon, green below, blue above (the head), white what leaks. */
const spectrum: Light = (channel, isCrown, _x, _y, z) => {
  if (!isCrown || z <= 0) return 1
  if (z > SEVENTY_FIVE) return at(BLUE, channel)
  return z > FORTY_FIVE ? at(RED, channel) : at(GREEN, channel)
}

/** A colour of the screen by a wavelength in µm that stands for it. */
const coloured = (channel: number, wavelength: number): LitRay => ({
  index: refractiveIndex(wavelength),
  channels: [channel],
  light: room,
})

/** The first of a lighting's rays is followed to its end; what the others bring at last is taken from where the first goes. */
export const lightings: Readonly<Record<Lighting, readonly [LitRay, LitRay?, LitRay?]>> = {
  'face-up': [coloured(1, 0.55), coloured(0, 0.64), coloured(2, 0.46)],
  aset: [{ index: refractiveIndex(0.5893), channels: [0, 1, 2], light: spectrum }],
}
