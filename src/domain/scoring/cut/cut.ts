/** Shapes that have a facet model. Other shapes have no optical scores. */
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

/** What stands for a stone's cut: its grade, or where nobody graded it, what is typical of its shape. */
export const cutGrades = [...grades, 'Typical'] as const
export type CutGrade = (typeof cutGrades)[number]

/** Polish and symmetry where they are not given: a cut is never graded better than one grade above its finish (GIA, Finish, Culet Size, and Girdle Thickness, 2009). */
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

/** What GIA calls an old European cut has a culet that is slightly large or larger (Describing Round Unmodified Brilliant Cut Diamonds, 2013). */
export const usualCulet = (shape: ModelledShape): Culet =>
  shape === 'OldEuropean' || shape === 'OldMine' ? 'Large' : 'None'

/** Proportions that a laboratory measured: percent of the width (stars and lower halves: of their whole way), angles in degrees. */
export type CutMeasurements = {
  readonly tablePct?: number
  readonly depthPct?: number
  readonly crownAngle?: number
  readonly pavilionAngle?: number
  readonly girdlePct?: number
  readonly starPct?: number
  readonly lowerPct?: number
  /** Longer side over shorter one; of a heart, from cleft to point over across, which may be less than 1. */
  readonly lengthToWidth?: number
}

/** How exactly a stone was made, whatever its proportions. */
export type Finish = { readonly polish: Grade; readonly symmetry: Grade }

/** All that decides how a stone handles light: two stones with the same cut differ in size only. */
export type Cut = Finish & {
  readonly shape: ModelledShape
  readonly grade: CutGrade
  readonly culet?: Culet
  readonly girdle?: GirdleThickness
  readonly measured?: CutMeasurements
}

/**
 * A name for a cut, the same for every equal cut: the table's key, and a key to keep traced cuts under.
 * A cut that leaves culet, girdle and measures to its grade has three words.
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
