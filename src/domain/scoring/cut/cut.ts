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
] as const
export type ModelledShape = (typeof modelledShapes)[number]
export type Shape = ModelledShape | 'Other'

/** Grades of cut, polish and symmetry, best first. */
export const grades = ['Ideal', 'Excellent', 'Very Good', 'Good', 'Fair', 'Poor'] as const
export type Grade = (typeof grades)[number]

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
export type Girdle = readonly [from: (typeof girdles)[number], to?: (typeof girdles)[number]]

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

/** Proportions that a laboratory measured: percent of the width (stars and lower halves: of their whole way), angles in degrees. */
export type Measured = {
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

/** All that decides how a stone handles light: two stones with the same cut differ in size only. */
export type Cut = {
  readonly shape: ModelledShape
  readonly grade: Grade
  readonly polish: Grade
  readonly symmetry: Grade
  readonly culet?: Culet
  readonly girdle?: Girdle
  readonly measured?: Measured
}

/**
 * A name for a cut, the same for every equal cut: the table's key, and a key to keep traced cuts under.
 * A cut that leaves culet, girdle and measures to its grade has three words.
 */
export function cutKey({ shape, grade, polish, symmetry, culet, girdle, measured }: Cut): string {
  const parts: string[] = [shape, grade]
  if (polish !== grade || symmetry !== grade) parts.push(`polish ${polish}`, `symmetry ${symmetry}`)
  if (culet !== undefined && culet !== 'None') parts.push(`culet ${culet}`)
  if (girdle !== undefined) parts.push(`girdle ${girdle.join('-')}`)
  if (measured !== undefined)
    parts.push(
      ...Object.entries(measured)
        .sort()
        .map(([name, value]) => `${name} ${value}`),
    )
  return parts.join(', ')
}
