import type { Cut } from './cut.ts'
import { ImpossibleProportions, proportionsOf } from './proportions.ts'

/**
 * A cut with as many measurements as one stone can have: all of them, else only lengthToWidth, else none. Contradictory values
 * were misread or misprinted, and it is unknown which of them.
 */
export function possibleCut(cut: Cut): Cut {
  const { measured, ...typical } = cut
  if (measured === undefined || impossibilityOf(cut) === undefined) return cut
  const { lengthToWidth } = measured
  if (lengthToWidth === undefined) return typical
  const withLengthToWidth = { ...typical, measured: { lengthToWidth } }
  return impossibilityOf(withLengthToWidth) === undefined ? withLengthToWidth : typical
}

/** Why no stone can have these proportions, as a clause: `the depth leaves -0.2 % for the crown`; undefined if one can. */
export function impossibilityOf(cut: Cut): string | undefined {
  try {
    proportionsOf(cut)
    return undefined
  } catch (error) {
    if (error instanceof ImpossibleProportions) return error.message
    throw error
  }
}
