/**
 * Elements of typed arrays that are known to be there. One function for each type: the tracer is four times slower when one
 * place in the code reads arrays of two types.
 */
export const at = (numbers: Float64Array, index: number): number => numbers[index] ?? 0
export const whole = (numbers: Int32Array, index: number): number => numbers[index] ?? 0

/** Six decimals: sines may differ in the last digit between engines, stored figures may not. */
export const kept = (value: number): number => Math.round(value * 1e6) / 1e6
