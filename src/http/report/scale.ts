import type { ScoringName } from '../../domain/dictionaries/scoring-constants.ts'
import { graded, scoreGrades, type Graded, type ScoreGrade } from '../../domain/scoring/grading.ts'
import { html, type Html } from '../kit/html.ts'

/** In the units of the drawing, which is as wide as a small phone. */
const SEGMENT = 54
const HEIGHT = 14
const TOP = 7
/** Beside the scale: a marker at its end is drawn whole, with its line. */
const MARGIN = 2
/** A marker is seen even where the interval is very short. */
const NARROWEST = 4

const NAMES: Readonly<Record<ScoreGrade, string>> = {
  P: 'Poor',
  F: 'Fair',
  G: 'Good',
  VG: 'Very Good',
  EX: 'Excellent',
  OU: 'Outstanding',
}

/** `Good to Very Good` for `G-VG`. */
export function gradeText({ ag }: Pick<Graded, 'ag'>): string {
  const [first, last] = [ag[0], ag.at(-1)]
  if (first === undefined || last === undefined) return ''
  return first === last ? NAMES[first] : `${NAMES[first]} to ${NAMES[last]}`
}

/** Where the marker begins and ends, from 0 to 6 segments. */
export function drawScale(name: ScoringName, value: number, error: number, said: string): Html {
  const { marks, ag } = graded(name, value, error)
  const width = Math.max((marks[1] - marks[0]) * SEGMENT, NARROWEST)
  const middle = ((marks[0] + marks[1]) / 2) * SEGMENT
  const left = Math.min(Math.max(middle - width / 2, 0), scoreGrades.length * SEGMENT - width)
  return html`<svg
    class="scale"
    viewBox="${String(-MARGIN)} 0 ${String(scoreGrades.length * SEGMENT + 2 * MARGIN)} 44"
    role="img"
    aria-label="${said}"
  >
    ${scoreGrades.map((grade, index) => segment(grade, index, ag.includes(grade)))}
    <rect class="mark" x="${units(left)}" y="1" width="${units(width)}" height="${String(HEIGHT + 12)}" rx="3" />
  </svg>`
}

const segment = (grade: ScoreGrade, index: number, isTouched: boolean): Html =>
  html`<rect
      class="grade-${grade}"
      x="${String(index * SEGMENT + 0.5)}"
      y="${String(TOP)}"
      width="${String(SEGMENT - 1)}"
      height="${String(HEIGHT)}"
      rx="2"
    />
    <text class="${isTouched ? 'touched' : 'grade'}" x="${String((index + 0.5) * SEGMENT)}" y="40">${grade}</text>`

const units = (length: number) => String(Math.round(length * 100) / 100)
