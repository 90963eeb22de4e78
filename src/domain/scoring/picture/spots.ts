/** A pixel of a frame as one number, so that an array holds many of them. */
const BITS = 12
export const LAST_SPOT = (1 << BITS) - 1

export const spotAt = (column: number, row: number): number => (row << BITS) | column
export const columnOf = (spot: number): number => spot & LAST_SPOT
export const rowOf = (spot: number): number => spot >> BITS

/** The least columns and rows that hold some spots. */
export type Bounds = { readonly left: number; readonly right: number; readonly top: number; readonly bottom: number }
