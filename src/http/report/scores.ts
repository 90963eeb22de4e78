import type { Basis, ScoreBasis } from '../../domain/diamond/score-basis.ts'
import type { Scores } from '../../domain/diamond/scores.ts'
import type { ScoringName } from '../../domain/dictionaries/scoring-constants.ts'
import { graded } from '../../domain/scoring/grading.ts'
import { html, NOTHING, type Html } from '../kit/html.ts'
import { basisMark, basisText, isOwn } from './basis.ts'
import { drawScale, gradeText } from './scale.ts'

/** A graded score as the page shows it. */
export type ShownScore = {
  readonly name: ScoringName
  readonly title: string
  readonly meaning: string
  readonly value: number
  readonly error: number
  /** Which of what the scores rest on it rests on. */
  readonly rests: 'light' | 'symmetry'
}

/** The scores that have grades, most telling first. */
export function gradedScores({ integral, brilliance, fire, symmetry }: Scores): ShownScore[] {
  return [
    ...(integral === null
      ? []
      : [shown('integral', 'Cut performance', 'Brilliance and fire together', integral.rg, integral.d)]),
    ...(brilliance === null
      ? []
      : [
          shown(
            'brightness',
            'Brilliance',
            'How bright and lively it looks, also when tilted',
            brilliance.rg,
            brilliance.d,
          ),
        ]),
    ...(fire === null ? [] : [shown('fire', 'Fire', 'Flashes of colour', fire.rg, fire.d)]),
    ...(symmetry === null
      ? []
      : [shown('symmetry', 'Optical symmetry', 'How exactly facets face each other, of 10', symmetry.val, symmetry.d)]),
  ]
}

const shown = (name: ScoringName, title: string, meaning: string, value: number, error: number): ShownScore => ({
  name,
  title,
  meaning,
  value,
  error,
  rests: name === 'symmetry' ? 'symmetry' : 'light',
})

export const gradeOf = ({ name, value, error }: ShownScore): string => gradeText(graded(name, value, error))

/**
 * @param scores null while they are computed
 * @param tells whether the owner lets be told what was measured
 */
export function scoresSection(scores: Scores | null, basis: ScoreBasis, tells: boolean): Html {
  if (scores === null) {
    return html`<h2>Optical scores</h2>
      <p>They are being computed. Look again in a moment.</p>`
  }
  const list = gradedScores(scores)
  return html`<h2>Optical scores</h2>
    ${
      list.length === 0
        ? NO_MODEL
        : html`${basisText(basis, tells)}
            <div class="scores">${list.map((score) => scoreOf(score, basis[score.rests]))}</div>`
    }
    ${scores.spread === null ? NOTHING : spreadText(scores.spread, basis.spread)}
    ${list.length === 0 ? NOTHING : relative(basis.light)}`
}

const NO_MODEL = html`<p>There is no optical model of this cut, so it has no optical scores.</p>`
const relative = (light: Basis): Html =>
  html`<p class="soft">
    Computed by tracing light through ${light === 'facets' ? 'the stone' : 'a model of the cut'}. 1 is a well-cut round
    that looks as large; symmetry goes to 10. Words of this scale: P Poor, F Fair, G Good, VG Very Good, EX Excellent,
    OU Outstanding. They are computed, and are no laboratory's cut grade, which may have the same words.
  </p>`

function scoreOf(score: ShownScore, basis: Basis): Html {
  const value = score.value.toFixed(2)
  const error = score.error.toFixed(2)
  const grade = gradeOf(score)
  const said = `${score.title} ${value}, give or take ${error}, on a scale from Poor to Outstanding: ${grade}`
  return html`<section class="${isOwn(basis) ? 'own' : 'typical'}">
    <h3>
      ${score.title} <span class="value">${value}<small> ± ${error}</small></span>
    </h3>
    <p>${basisMark(basis)}</p>
    ${drawScale(score.name, score.value, score.error, said)}
    <p>On this scale: <strong>${grade}</strong>. <span class="soft">${score.meaning}</span></p>
  </section>`
}

function spreadText({ ct, pc }: NonNullable<Scores['spread']>, basis: Basis): Html {
  const looks = ct === 0 ? 'as large as' : ct > 0 ? 'larger than' : 'smaller than'
  return html`<p>
    <strong>Spread ${signed(ct, 2)} ct (${signed(pc, 1)} %)</strong> ${basisMark(basis)} From above it looks ${looks} a
    well-cut round of its weight.
  </p>`
}

/** With a true minus sign. */
const signed = (value: number, places: number) =>
  `${value > 0 ? '+' : value < 0 ? '\u2212' : ''}${Math.abs(value).toFixed(places)}`
