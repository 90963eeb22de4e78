import type { ScoreSource, ScoreBasis } from '../../domain/diamond/score-basis.ts'
import type { Scores } from '../../optics/scores.ts'
import type { ScoringName } from '../../domain/dictionaries/constants.ts'
import type { CutMeasurements } from '../../optics/cut/cut.ts'
import { gradeScore, scoreGrades, type ScoreGrading, type ScoreGrade } from '../../domain/diamond/score-grading.ts'
import { html, NOTHING, type Html } from '../kit/html.ts'

/** In units of the drawing, which fits the width of a small phone. */
const SEGMENT = 54
const HEIGHT = 14
const TOP = 7
/** Margin at both ends, so that a marker there is drawn with its outline. */
const MARGIN = 2
/** Keeps the marker visible if the interval is very short. */
const MIN_MARKER_WIDTH = 4

const GRADE_NAMES: Readonly<Record<ScoreGrade, string>> = {
  P: 'Poor',
  F: 'Fair',
  G: 'Good',
  VG: 'Very Good',
  EX: 'Excellent',
  OU: 'Outstanding',
}

/** `Good to Very Good` for `G-VG`. */
export function gradeText({ ag }: Pick<ScoreGrading, 'ag'>): string {
  const [first, last] = [ag[0], ag.at(-1)]
  if (first === undefined || last === undefined) return ''
  return first === last ? GRADE_NAMES[first] : `${GRADE_NAMES[first]} to ${GRADE_NAMES[last]}`
}

/** Draws the grade scale with a marker for the interval `value ± error`. */
export function drawScale(name: ScoringName, value: number, error: number, label: string): Html {
  const { marks, ag } = gradeScore(name, value, error)
  const width = Math.max((marks[1] - marks[0]) * SEGMENT, MIN_MARKER_WIDTH)
  const middle = ((marks[0] + marks[1]) / 2) * SEGMENT
  const left = Math.min(Math.max(middle - width / 2, 0), scoreGrades.length * SEGMENT - width)
  return html`<svg
    class="scale"
    viewBox="${String(-MARGIN)} 0 ${String(scoreGrades.length * SEGMENT + 2 * MARGIN)} 44"
    role="img"
    aria-label="${label}"
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

/** Labels for what a score or picture is based on. */
const BASIS_NAMES: Readonly<Record<ScoreSource, string>> = {
  shape: 'Typical of its shape',
  grade: 'Typical of its grade',
  word: 'From its symmetry grade',
  report: 'From its report',
  owner: "From its vendor's figures",
  'report and owner': 'From its report and vendor',
  facets: 'From its own facets',
}

/** Whether a score or picture is measured on this stone, relies on its vendor's word, or is typical of its shape or grade. */
function markOf(basis: ScoreSource): 'own' | 'stated' | 'typical' {
  if (basis === 'report' || basis === 'facets') return 'own'
  return basis === 'owner' || basis === 'report and owner' ? 'stated' : 'typical'
}

/**
 * The label of a score or picture: a filled disc in a thick frame if it is measured on this stone, half a disc in a thin frame if it
 * relies on its vendor's word, an empty disc in a dashed frame if it is typical. The differences are visible in print and to
 * colour-blind readers.
 */
export const basisTag = (basis: ScoreSource): Html =>
  html`<span class="basis ${markOf(basis)}">${BASIS_NAMES[basis]}</span>`

const MEASURES: Readonly<Record<keyof CutMeasurements, string>> = {
  tablePct: 'table',
  depthPct: 'depth',
  crownAngle: 'crown angle',
  pavilionAngle: 'pavilion angle',
  girdlePct: 'girdle',
  starPct: 'star length',
  lowerPct: 'lower halves',
  lengthToWidth: 'length to width',
}

/** Explains the labels of the scores. */
function basisText({ light, measured, stated }: ScoreBasis, showsProportions: boolean): Html {
  if (light === 'shape') return TYPICAL_OF_SHAPE
  if (light === 'grade') return TYPICAL_OF_GRADE
  if (light === 'facets') return OWN_FACETS
  if (measured.length + stated.length === 0) return NOTHING
  const namesOf = (names: readonly (keyof CutMeasurements)[]) =>
    showsProportions ? `its ${joinWords(names.map((name) => MEASURES[name]))}` : 'proportions of this stone'
  const sources = [
    ...(measured.length > 0 ? [`a laboratory measured ${namesOf(measured)}`] : []),
    ...(stated.length > 0 ? [`its vendor states ${namesOf(stated)}`] : []),
  ]
  return html`<p class="soft">
    ${BASIS_NAMES[light]}: ${joinWords(sources)}; all other proportions are typical of the shape and grade.
  </p>`
}

const OWN_FACETS = html`<p class="soft">
  From its own facets: this stone was scanned, and the light was traced through the scanned facets.
</p>`
const TYPICAL_OF_SHAPE = html`<p class="soft">
  Typical of its shape: neither cut grade nor measurements are known, so these scores are those of an average stone of
  this shape, not of this stone.
</p>`
const TYPICAL_OF_GRADE = html`<p class="soft">
  Typical of its grade: no measurements are known, so these scores are those of a typical stone of this shape and cut
  grade, not of this stone.
</p>`

/** `table, depth and girdle` */
const joinWords = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`

type GradedScore = {
  readonly name: ScoringName
  readonly title: string
  readonly meaning: string
  readonly value: number
  readonly error: number
  /** The member of ScoreBasis that this score is based on. */
  readonly basisKey: 'light' | 'symmetry'
}

/** The scores that have grades, most informative first. */
export function gradedScores({ integral, brilliance, fire, symmetry }: Scores): GradedScore[] {
  return [
    ...(integral === null
      ? []
      : [createGradedScore('integral', 'Cut performance', 'Brilliance and fire together', integral.rg, integral.d)]),
    ...(brilliance === null
      ? []
      : [
          createGradedScore(
            'brightness',
            'Brilliance',
            'How bright and lively it looks, also when tilted',
            brilliance.rg,
            brilliance.d,
          ),
        ]),
    ...(fire === null ? [] : [createGradedScore('fire', 'Fire', 'Flashes of colour', fire.rg, fire.d)]),
    ...(symmetry === null
      ? []
      : [
          createGradedScore(
            'symmetry',
            'Optical symmetry',
            'How precisely the facets are aligned, out of 10',
            symmetry.val,
            symmetry.d,
          ),
        ]),
  ]
}

const createGradedScore = (
  name: ScoringName,
  title: string,
  meaning: string,
  value: number,
  error: number,
): GradedScore => ({
  name,
  title,
  meaning,
  value,
  error,
  basisKey: name === 'symmetry' ? 'symmetry' : 'light',
})

export const gradeOf = ({ name, value, error }: GradedScore): string => gradeText(gradeScore(name, value, error))

/**
 * @param scores null while they are computed
 * @param showsProportions whether the page may say which proportions are known
 */
export function scoresSection(scores: Scores | null, basis: ScoreBasis, showsProportions: boolean): Html {
  const isScored = scores !== null && gradedScores(scores).length > 0
  return html`<h2>Optical scores</h2>
    ${isScored ? basisText(basis, showsProportions) : NOTHING} ${scoreList(scores, basis)}
    ${scores === null || scores.spread === null ? NOTHING : spreadText(scores.spread, basis.spread)}
    ${isScored ? scaleNote(basis.light) : NOTHING}`
}

/** The scores with their scales, or why there are none. @param scores null while they are computed */
export function scoreList(scores: Scores | null, basis: ScoreBasis): Html {
  if (scores === null) return html`<p>The scores are being computed. Reload this page in a moment.</p>`
  const list = gradedScores(scores)
  if (list.length === 0) return NO_MODEL
  return html`<div class="scores">${list.map((score) => scoreOf(score, basis[score.basisKey]))}</div>`
}

const NO_MODEL = html`<p>There are no optical scores, because there is no optical model of this cut.</p>`
const scaleNote = (light: ScoreSource): Html =>
  html`<p class="soft">
    Computed by tracing light through ${light === 'facets' ? 'the stone' : 'a model of the cut'}. 1 is a well-cut round
    that looks as large; the maximum for symmetry is 10. Scale: P Poor, F Fair, G Good, VG Very Good, EX Excellent, OU
    Outstanding. These grades are computed. They are not a laboratory's cut grade, which may use the same words.
  </p>`

function scoreOf(score: GradedScore, basis: ScoreSource): Html {
  const value = score.value.toFixed(2)
  const error = score.error.toFixed(2)
  const grade = gradeOf(score)
  const label = `${score.title} ${value}, plus or minus ${error}, on a scale from Poor to Outstanding: ${grade}`
  return html`<section class="${markOf(basis)}">
    <h3>
      ${score.title} <span class="value">${value}<small> ± ${error}</small></span>
    </h3>
    <p>${basisTag(basis)}</p>
    ${drawScale(score.name, score.value, score.error, label)}
    <p>On this scale: <strong>${grade}</strong>. <span class="soft">${score.meaning}</span></p>
  </section>`
}

function spreadText({ ct, pc, d }: NonNullable<Scores['spread']>, basis: ScoreSource): Html {
  const comparison = Math.abs(pc) <= d ? 'about as large as' : ct > 0 ? 'larger than' : 'smaller than'
  return html`<p>
    <strong>Spread ${formatSigned(ct, 2)} ct (${formatSigned(pc, 1)} % ± ${d.toFixed(1)})</strong> ${basisTag(basis)}
    From above it looks ${comparison} a well-cut round of its weight.
  </p>`
}

/** With a sign; uses U+2212 for minus. */
const formatSigned = (value: number, places: number) =>
  `${value > 0 ? '+' : value < 0 ? '\u2212' : ''}${Math.abs(value).toFixed(places)}`
