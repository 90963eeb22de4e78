import type { Basis, ScoreBasis } from '../../domain/diamond/score-basis.ts'
import type { Measured } from '../../domain/scoring/cut/cut.ts'
import { html, NOTHING, type Html } from '../kit/html.ts'

/** How each basis is named wherever a score or a picture rests on it. */
const NAMES: Readonly<Record<Basis, string>> = {
  shape: 'Typical of its shape',
  grade: 'Typical of its grade',
  word: 'From its symmetry grade',
  measurements: 'From its measurements',
  facets: 'From its own facets',
}

/** True where a figure or a picture is of this very stone, and not of any like it. */
export const isOwn = (basis: Basis): boolean => basis === 'measurements' || basis === 'facets'

/**
 * The mark beside a score or a picture: a full disc in a full frame for what is this stone's own, an empty one in a dashed
 * frame for what is typical, so that print and colour-blind eyes tell them apart.
 */
export const basisMark = (basis: Basis): Html =>
  html`<span class="basis ${isOwn(basis) ? 'own' : 'typical'}">${NAMES[basis]}</span>`

const MEASURES: Readonly<Record<keyof Measured, string>> = {
  tablePct: 'table',
  depthPct: 'depth',
  crownAngle: 'crown angle',
  pavilionAngle: 'pavilion angle',
  girdlePct: 'girdle',
  starPct: 'star length',
  lowerPct: 'lower halves',
  lengthToWidth: 'length to width',
}

/** What the marks beside scores mean on this page. @param tells whether the owner lets measures be told */
export function basisText({ light, measured }: ScoreBasis, tells: boolean): Html {
  if (light === 'shape') return TYPICAL_OF_SHAPE
  if (light === 'grade') return TYPICAL_OF_GRADE
  if (light === 'facets') return OWN_FACETS
  if (light !== 'measurements') return NOTHING
  const which = tells ? `its ${listed(measured.map((name) => MEASURES[name]))}` : 'this stone'
  return html`<p class="soft">
    From its measurements: a laboratory measured ${which}; whatever it did not measure is typical of the shape and
    grade.
  </p>`
}

const OWN_FACETS = html`<p class="soft">
  From its own facets: this very stone was scanned, and light was traced through it as it is.
</p>`
const TYPICAL_OF_SHAPE = html`<p class="soft">
  Typical of its shape: no cut grade and no measurements are known, so these are the scores of an average stone of this
  shape, not of this one.
</p>`
const TYPICAL_OF_GRADE = html`<p class="soft">
  Typical of its grade: no measurements are known, so these are the scores of a typical stone of this shape and cut
  grade, not of this one.
</p>`

/** `table, depth and girdle` */
const listed = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
