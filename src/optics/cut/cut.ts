/** Shapes with a facet model. Other shapes have optical scores only if they have a 3D model. */
export const modelledShapes = [
  'Round',
  'Princess',
  'CushionBrilliant',
  'CushionModified',
  'Oval',
  'Marquise',
  'Pear',
  'Radiant',
  'Emerald',
  'Asscher',
  'Heart',
  'Baguette',
  'OldEuropean',
  'OldMine',
  'Trillion',
  'Rose',
  'Briolette',
] as const
export type ModelledShape = (typeof modelledShapes)[number]
export type CutShape = ModelledShape | 'Other'

/** Grades of cut, polish and symmetry, best first. */
export const grades = ['Ideal', 'Excellent', 'Very Good', 'Good', 'Fair', 'Poor'] as const
export type Grade = (typeof grades)[number]

/** A cut grade, or `Typical` for an ungraded stone, which is scored with the typical proportions of its shape. */
export const cutGrades = [...grades, 'Typical'] as const
export type CutGrade = (typeof cutGrades)[number]

/**
 * Polish and symmetry if not given: a cut grade is at most one grade better than the finish (GIA, Finish, Culet Size, and Girdle
 * Thickness, 2009).
 */
export const defaultFinishGrade = (grade: CutGrade): Grade => (grade === 'Typical' ? 'Very Good' : grade)

export const girdles = [
  'Extremely Thin',
  'Very Thin',
  'Thin',
  'Medium',
  'Slightly Thick',
  'Thick',
  'Very Thick',
  'Extremely Thick',
] as const
/** One thickness, or the thinnest and the thickest of a range. */
export type GirdleThickness = readonly [from: (typeof girdles)[number], to?: (typeof girdles)[number]]

export const culets = [
  'None',
  'Very Small',
  'Small',
  'Medium',
  'Slightly Large',
  'Large',
  'Very Large',
  'Extremely Large',
] as const
export type Culet = (typeof culets)[number]

/** By the GIA's definition, an old European cut has a slightly large or larger culet (Describing Round Unmodified Brilliant Cut Diamonds, 2013). */
export const usualCulet = (shape: ModelledShape): Culet =>
  shape === 'OldEuropean' || shape === 'OldMine' ? 'Large' : 'None'

/** Proportions measured by a laboratory: angles in degrees, stars and lower halves in percent of their full length, others of the width. */
export type CutMeasurements = {
  readonly tablePct?: number
  readonly depthPct?: number
  readonly crownAngle?: number
  readonly pavilionAngle?: number
  readonly girdlePct?: number
  readonly starPct?: number
  readonly lowerPct?: number
  /** Longer side over shorter side. Of a heart, cleft to point over width, which can be less than 1. */
  readonly lengthToWidth?: number
}

export type Finish = { readonly polish: Grade; readonly symmetry: Grade }

/** Everything that determines how light travels in a stone. Stones with the same cut differ only in size. */
export type Cut = Finish & {
  readonly shape: ModelledShape
  readonly grade: CutGrade
  readonly culet?: Culet
  readonly girdle?: GirdleThickness
  readonly measured?: CutMeasurements
}

/**
 * The key of a cut in the table and in caches, equal for equal cuts. A cut with only grade defaults is named by its shape and
 * grade alone.
 */
export function cutKey({ shape, grade, polish, symmetry, culet, girdle, measured }: Cut): string {
  const parts: string[] = [shape, grade]
  if (polish !== defaultFinishGrade(grade) || symmetry !== defaultFinishGrade(grade))
    parts.push(`polish ${polish}`, `symmetry ${symmetry}`)
  if (culet !== undefined && culet !== usualCulet(shape)) parts.push(`culet ${culet}`)
  if (girdle !== undefined) parts.push(`girdle ${girdle.join('-')}`)
  if (measured !== undefined)
    parts.push(
      ...Object.entries(measured)
        .sort()
        .map(([name, value]) => `${name} ${value}`),
    )
  return parts.join(', ')
}
