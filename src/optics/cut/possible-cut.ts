import type { Cut } from './cut.ts'
import { ImpossibleProportions, proportionsOf } from './proportions.ts'

/**
 * A cut with as many measurements as one stone can have: all of them, else only lengthToWidth, else none. Contradictory values
 * were misread or misprinted, and it is unknown which of them.
 */
export function possibleCut(cut: Cut): Cut {
  const { measured, ...typical } = cut
  if (measured === undefined || isPossible(cut)) return cut
  const { lengthToWidth } = measured
  if (lengthToWidth === undefined) return typical
  const withLengthToWidth = { ...typical, measured: { lengthToWidth } }
  return isPossible(withLengthToWidth) ? withLengthToWidth : typical
}

function isPossible(cut: Cut): boolean {
  try {
    proportionsOf(cut)
    return true
  } catch (error) {
    if (error instanceof ImpossibleProportions) return false
    throw error
  }
}
