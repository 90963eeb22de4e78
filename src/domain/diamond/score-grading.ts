import { scoringGrades, type GradeBounds, type ScoringName } from '../dictionaries/constants.ts'

export const scoreGrades = ['P', 'F', 'G', 'VG', 'EX', 'OU'] as const
export type ScoreGrade = (typeof scoreGrades)[number]

/** The grades that a score's error interval touches (`ag`), their range as text (`hr`), and the ends of the interval on a scale. */
export type ScoreGrading = {
  readonly ag: readonly ScoreGrade[]
  readonly hr: string
  /** The ends of the interval, from 0 (start of P) to 6 (end of OU); each grade is one unit wide. */
  readonly marks: readonly [number, number]
}

/**
 * Grades a score by the platform's rule: compares the closed interval value ± error with the six closed grade segments, so that
 * a value on a bound has both grades. Fire, brightness and integral are graded by rg, symmetry by val.
 */
export function gradeScore(name: ScoringName, value: number, error: number): ScoreGrading {
  const bounds = scoringGrades[name]
  const low = exact(value - error)
  const high = exact(value + error)
  const ag = scoreGrades.filter((_, index) => {
    const starts = index === 0 ? -Infinity : exact(bounds[index - 1] ?? 0)
    const ends = index === scoreGrades.length - 1 ? Infinity : exact(bounds[index] ?? 0)
    return low <= ends && high >= starts
  })
  const [first, last] = [ag[0], ag.at(-1)]
  return {
    ag,
    hr: first === last ? `${first}` : `${first}-${last}`,
    marks: [scalePosition(bounds, value - error), scalePosition(bounds, value + error)],
  }
}

/** Rounded to nine decimals, so that 0.98 - 0.05 equals 0.93 and not the binary number just below it. */
const exact = (value: number): number => Math.round(value * 1e9)

function scalePosition(bounds: GradeBounds, value: number): number {
  const clamped = Math.min(Math.max(value, 0), bounds[5])
  const segment = bounds.findIndex((end) => exact(clamped) <= exact(end))
  const starts = bounds[segment - 1] ?? 0
  return segment + (clamped - starts) / ((bounds[segment] ?? starts) - starts)
}
