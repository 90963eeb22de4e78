import { scoringGrades, type GradeBounds, type ScoringName } from '../dictionaries/constants.ts'

export const scoreGrades = ['P', 'F', 'G', 'VG', 'EX', 'OU'] as const
export type ScoreGrade = (typeof scoreGrades)[number]

/** Where a score stands: every grade that its interval touches, the range in one word, and the marks on a drawn scale. */
export type ScoreGrading = {
  readonly ag: readonly ScoreGrade[]
  readonly hr: string
  /** From 0 (start of P) to 6 (end of OU), one for each end of the interval: the segments are drawn equally wide. */
  readonly marks: readonly [number, number]
}

/**
 * The grade range of a score by the platform's rule: the closed interval of the value and its error against six closed
 * segments, so that a value on a bound belongs to both neighbours. Fire, brightness and integral: rg; symmetry: val.
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
    marks: [mark(bounds, value - error), mark(bounds, value + error)],
  }
}

/** Decimals of nine places: 0.98 - 0.05 is 0.93, not the binary number just below. */
const exact = (value: number): number => Math.round(value * 1e9)

function mark(bounds: GradeBounds, value: number): number {
  const clamped = Math.min(Math.max(value, 0), bounds[5])
  const segment = bounds.findIndex((end) => exact(clamped) <= exact(end))
  const starts = bounds[segment - 1] ?? 0
  return segment + (clamped - starts) / ((bounds[segment] ?? starts) - starts)
}
