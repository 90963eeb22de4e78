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
import type { FluorColor, FluorIntensity } from '../fluor.ts'

/** What is known of a stone, as far as its scores ask for it. */
export type Stone = {
  readonly shape?: CutShape
  readonly carat?: number
  readonly cutGrade?: Grade
  readonly polish?: Grade
  readonly symmetry?: Grade
  readonly culet?: Culet
  readonly girdle?: GirdleThickness
  readonly fluorIntensity?: FluorIntensity
  readonly fluorColor?: FluorColor
  readonly measured?: CutMeasurements
  /** Millimetres of the face as a laboratory measured them. */
  readonly face?: FaceUpSize
  /** Its cut was traced from its own facets, which a 3D file of it has. */
  readonly ownFacets?: true
}

/** A stone from above: length times width, in mm. */
export type FaceUpSize = { readonly length: number; readonly width: number }

/**
 * The cut of a stone, null where its shape has no model. Laboratories give other shapes than round no cut grade: such a stone is typical of
 * its shape.
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

/** A drop that is faceted all around has neither girdle nor culet, whatever a list says of them. */
const hasGirdle = (shape: ModelledShape): boolean => shape !== 'Briolette'

/** Whether a shape has a facet model. */
export const isModelledShape = (shape: CutShape): shape is ModelledShape =>
  modelledShapes.some((modelled) => modelled === shape)
