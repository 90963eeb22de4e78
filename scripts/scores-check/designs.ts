import { defaultFinishGrade, type Cut, type CutGrade } from '../../src/optics/cut/cut.ts'
import { facetModels } from '../../src/optics/cut/facets.ts'
import { ImpossibleProportions } from '../../src/optics/cut/proportions.ts'
import { idealSolidOfCut, roundProportions, type RoundMeasures } from '../../src/optics/cut/trace-cut.ts'
import { solidOf, type Solid } from '../../src/optics/solid/solid.ts'

/** A round brilliant; proportions that are not given are the reference's. */
export const roundBrilliant = (measures: Partial<RoundMeasures>): Solid =>
  solidOf(facetModels.Round(roundProportions(measures)))

/** A cut with the defaults of its grade. */
export const defaultCut = (shape: Cut['shape'], grade: CutGrade): Cut => ({
  shape,
  grade,
  polish: defaultFinishGrade(grade),
  symmetry: defaultFinishGrade(grade),
})

/** The solid of a cut; null if no stone has its proportions. */
export function solidOrNull(cut: Cut): Solid | null {
  try {
    return idealSolidOfCut(cut)
  } catch (error) {
    if (error instanceof ImpossibleProportions) return null
    throw error
  }
}

/** The value below which this fraction of the numbers lies. */
export function quantile(values: readonly number[], fraction: number): number {
  return [...values].sort((a, b) => a - b)[Math.floor(fraction * values.length)] ?? NaN
}
