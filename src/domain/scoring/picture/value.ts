/** Steps of the table to light of 1. */
const STEPS = 2048

/** Light to a screen's value: bright spots run out softly, and the screen's gamma. */
const shown = (light: number): number =>
  255 * Math.min(1, (light < 0.8 ? light : 1 - 0.2 * Math.exp(-(light - 0.8) / 0.2)) ** (1 / 2.2))

/** Values by the root of light, over which they are nearly even: up to four times white, which is white. */
const values = Uint8ClampedArray.from({ length: 2 * STEPS }, (_, step) => shown(((step + 0.5) / STEPS) ** 2))

/** From 0 to 255, for light from 0 up; 1 is white. */
export const valueOf = (light: number): number =>
  light > 0 ? (values[Math.floor(Math.sqrt(light) * STEPS)] ?? 255) : 0
