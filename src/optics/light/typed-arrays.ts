/**
 * Array elements at indices that are known to be valid. There is one function per array type, because a call site that reads arrays of
 * two types makes the tracer four times slower.
 */
export const at = (numbers: Float64Array, index: number): number => numbers[index] ?? 0
export const integerAt = (numbers: Int32Array, index: number): number => numbers[index] ?? 0
