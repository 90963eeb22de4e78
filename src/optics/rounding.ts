/** Rounds half away from zero as the decimal number is written, not as its binary approximation would round. */
export function roundDecimals(value: number, places: number): number {
  const scale = 10 ** places
  const rounded = Math.round(Math.abs(value) * scale * (1 + Number.EPSILON)) / scale
  return value < 0 && rounded !== 0 ? -rounded : rounded
}

/** The fractional part of a number, from 0 to less than 1; of -0.25 it is 0.75. */
export const fractionalPart = (value: number): number => value - Math.floor(value)

/** Rounds to six decimals: sines may differ in the last digit between JavaScript engines, stored figures must not. */
export const roundToSixDecimals = (value: number): number => Math.round(value * 1e6) / 1e6
