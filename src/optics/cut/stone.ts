import {
  defaultFinishGrade,
  modelledShapes,
  type Culet,
  type Cut,
  type GirdleThickness,
  type Grade,
  type CutMeasurements,
  type ModelledShape,
  type CutShape,
} from './cut.ts'
import type { Scores } from '../scores.ts'

export type Stone = {
  readonly shape?: CutShape
  readonly carat?: number
  readonly cutGrade?: Grade
  readonly polish?: Grade
  readonly symmetry?: Grade
  readonly culet?: Culet
  readonly girdle?: GirdleThickness
  /** From a laboratory's report: no light is traced for it. */
  readonly fluor?: Scores['fluor']
  readonly measured?: CutMeasurements
  readonly face?: FaceUpSize
  readonly ownFacets?: true
}

/** Length and width of a stone seen from above, in mm. */
export type FaceUpSize = { readonly length: number; readonly width: number }

/**
 * The cut of a stone; null if its shape has no model. Without a cut grade, as for all shapes but round, it has the typical
 * proportions of its shape.
 */
export function cutOf(stone: Stone): Cut | null {
  const { shape, cutGrade: grade = 'Typical', culet, girdle, measured } = stone
  if (shape === undefined || !isModelledShape(shape)) return null
  return {
    shape,
    grade,
    polish: stone.polish ?? defaultFinishGrade(grade),
    symmetry: stone.symmetry ?? defaultFinishGrade(grade),
    ...(culet !== undefined && hasGirdle(shape) && { culet }),
    ...(girdle !== undefined && hasGirdle(shape) && { girdle }),
    ...(measured !== undefined && { measured }),
  }
}

/** A briolette has neither girdle nor culet, so values in trade lists are ignored. */
const hasGirdle = (shape: ModelledShape): boolean => shape !== 'Briolette'

export const isModelledShape = (shape: CutShape): shape is ModelledShape =>
  modelledShapes.some((modelled) => modelled === shape)
