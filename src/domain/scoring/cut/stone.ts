import {
  modelledShapes,
  type Culet,
  type Cut,
  type Girdle,
  type Grade,
  type Measured,
  type ModelledShape,
  type Shape,
} from './cut.ts'
import type { FluorColor, FluorIntensity } from '../fluor.ts'

/** What is known of a stone, as far as its scores ask for it. */
export type Stone = {
  readonly shape?: Shape
  readonly carat?: number
  readonly cutGrade?: Grade
  readonly polish?: Grade
  readonly symmetry?: Grade
  readonly culet?: Culet
  readonly girdle?: Girdle
  readonly fluorIntensity?: FluorIntensity
  readonly fluorColor?: FluorColor
  readonly measured?: Measured
  /** Millimetres of the face as a laboratory measured them. */
  readonly face?: Face
  /** Its cut was traced from its own facets, which a 3D file of it has. */
  readonly ownFacets?: true
}

/** A stone from above: length times width, in mm. */
export type Face = { readonly length: number; readonly width: number }

/** Stands for a cut grade that is not known; laboratories give none to other shapes than round. */
const ASSUMED_GRADE: Grade = 'Very Good'

/**
 * The cut of a stone, null where its shape has no model. Polish and symmetry that are not given are those of the cut grade:
 * a cut is never graded better than one grade above its finish (GIA, Finish, Culet Size, and Girdle Thickness, 2009).
 */
export function cutOf(stone: Stone): Cut | null {
  const { shape, cutGrade: grade = ASSUMED_GRADE, culet, girdle, measured } = stone
  if (shape === undefined || !isModelled(shape)) return null
  return {
    shape,
    grade,
    polish: stone.polish ?? grade,
    symmetry: stone.symmetry ?? grade,
    ...(culet !== undefined && { culet }),
    ...(girdle !== undefined && { girdle }),
    ...(measured !== undefined && { measured }),
  }
}

const isModelled = (shape: Shape): shape is ModelledShape => modelledShapes.some((modelled) => modelled === shape)
