import { measuredProportions } from '../../domain/certification/measured.ts'
import { basisOf } from '../../domain/diamond/score-basis.ts'
import type { LiveDiamond } from '../../domain/diamond/diamond.ts'
import type { Scores } from '../../domain/diamond/scores.ts'
import type { DiamondView } from '../../projections/diamonds/diamond-view.ts'
import type { Look } from '../../domain/scoring/picture/picture.ts'
import { caratText, factsOf, qualified, shapeName, type Fact } from '../../representations/diamond/facts.ts'
import { scoresIn } from '../../representations/diamond/scores.ts'
import { html, NOTHING, type Html } from '../kit/html.ts'
import type { Links } from '../kit/links.ts'
import { basisMark } from './basis.ts'
import { certificatesSection } from './certificates.ts'
import { imprint } from './imprint.ts'
import { measuredFacts } from './measures.ts'
import type { Page } from './layout.ts'
import type { Opening } from './opening.ts'
import { shownBasis, shownOf } from './pictures.ts'
import { modelSection } from './model-section.ts'
import { profileOf } from './profile.ts'
import { gradedScores, gradeOf, scoresSection } from './scores.ts'

/** A diamond's report. */
export function reportOf(view: DiamondView, links: Links, opening: Opening): Page {
  const { diamond } = view
  const scores = view.scores === null ? null : scoresIn(view.scores)
  const basis = basisOf(diamond, scores)
  const isPublic = diamond.fields.access === 2
  const title = `${caratText(diamond.fields)} ${shapeName(diamond.fields)} ${qualified(diamond.fields)}`
  const summary = summaryOf(diamond, scores)
  return {
    status: 200,
    title,
    isPublic,
    head: isPublic ? previewTags(diamond, links, title, summary) : NOTHING,
    content: html`<header>
        <h1>${title}</h1>
        <p class="soft">${summary}</p>
      </header>
      ${shownOf(diamond) === null ? NOTHING : figures(diamond, opening)}
      <section>${scoresSection(scores, basis, diamond.fields.dataAccess > 0)}</section>
      <section>
        <h2>The stone</h2>
        ${list(factsOf(diamond.fields))}
      </section>
      ${designSection(diamond)} ${certificatesSection(diamond, links)} ${modelSection(diamond, links)}
      ${imprint(view, scores, links, opening)}`,
  }
}

function summaryOf({ fields }: LiveDiamond, scores: Scores | null): string {
  const facts = new Map(factsOf(fields))
  const said = ['Colour', 'Clarity', 'Cut grade'].flatMap((name) => {
    const value = facts.get(name)
    return value === undefined ? [] : [`${name.toLowerCase()} ${value}`]
  })
  const [first] = scores === null ? [] : gradedScores(scores)
  if (first !== undefined)
    said.push(`${first.title.toLowerCase()} ${first.value.toFixed(2)}, ${gradeOf(first)} on this page's scale`)
  const text = said.join(' · ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** Addresses relative to the page's: a proxy may put a path before it. */
function figures(diamond: LiveDiamond, { signature, up }: Opening): Html {
  const { id, fields } = diamond
  const basis = shownBasis(diamond)
  const mark = basisMark(basis)
  const isOwnBody = basis === 'facets'
  const query = signature === '' ? '' : `?signature=${encodeURIComponent(signature)}`
  const shape = shapeName(fields).toLowerCase()
  const drawn = (look: Look, alt: string) => {
    const address = `${up}${String(id)}/${look}.png${query}`
    return html`<a class="drawn" href="${address}"><img src="${address}" alt="${alt}" /></a>`
  }
  return html`<div class="pictures">
    <figure>
      ${drawn('face-up', `A ${shape} cut from above, as it looks in a room`)}
      <figcaption>${mark}<br />Face-up, traced from ${isOwnBody ? 'its own 3D file' : 'a model of the cut'}</figcaption>
    </figure>
    <figure>
      ${drawn('aset', 'The same cut in ASET light: by colour, from which heights its light comes')}
      <figcaption>
        ${mark}<br />ASET: red from high, green from low, blue behind the viewer&#8217;s head, white is leakage
      </figcaption>
    </figure>
    <figure class="rocked">
      ${drawn('rocked', 'The same cut face-up as it is rocked, in five steps from 15 degrees one way to 15 the other')}
      <figcaption>${mark}<br />Rocked by 15° to both sides: what sparkles, and what stays dark</figcaption>
    </figure>
  </div>`
}

const list = (facts: readonly Fact[]): Html =>
  html`<dl>
    ${facts.map(
      ([name, value]) =>
        html`<div>
          <dt>${name}</dt>
          <dd>${value}</dd>
        </div>`,
    )}
  </dl>`

/** Proportions that a report measured: design data, which dataAccess 0 hides. */
function designSection(diamond: LiveDiamond): Html {
  const { fields } = diamond
  const measured = measuredProportions(diamond)
  if (fields.dataAccess === 0 || measured === undefined) return NOTHING
  return html`<section>
    <h2>Measured proportions</h2>
    ${profileOf(diamond, measured)} ${list(measuredFacts(measured))}
  </section>`
}

const previewTags = ({ id }: LiveDiamond, { address }: Links, title: string, summary: string): Html =>
  html`<meta name="description" content="${summary}" />
    <meta property="og:type" content="website" />
    <meta property="og:title" content="${title}" />
    <meta property="og:description" content="${summary}" />
    <meta property="og:url" content="${address}/diamond/${String(id)}" />
    <meta property="og:image" content="${address}/diamond/${String(id)}/face-up.png" />
    <meta property="og:image:type" content="image/png" />
    <meta property="og:image:alt" content="The stone from above" />
    <meta name="twitter:card" content="summary" />`
