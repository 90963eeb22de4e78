import { measuredProportions } from '../../domain/certification/measured.ts'
import { stoneOf } from '../../domain/diamond/scored-stone.ts'
import { isGradeAssumed } from '../../domain/scoring/cut/stone.ts'
import type { LiveDiamond } from '../../domain/diamond/diamond.ts'
import type { DiamondView } from '../../projections/diamonds/diamond-view.ts'
import { factsOf, shapeName, type Fact } from '../../representations/diamond/facts.ts'
import { html, NOTHING, type Html } from '../kit/html.ts'
import type { Links } from '../kit/links.ts'
import { certificatesSection } from './certificates.ts'
import { measuredFacts } from './measures.ts'
import type { Page } from './layout.ts'
import { shownCut } from './pictures.ts'
import { gradedScores, gradeOf, scoresSection } from './scores.ts'

/** How a page was asked for. */
export type Opening = {
  /** The one that opened it, empty where none was needed. */
  readonly signature: string
  /** What relative addresses begin with: `upFrom`. */
  readonly up: string
}

/** A diamond's report. */
export function reportOf({ diamond, scores }: DiamondView, links: Links, opening: Opening): Page {
  const isPublic = diamond.fields.access === 2
  const title = `${headline(diamond)} diamond`
  const summary = summaryOf({ diamond, scores })
  return {
    status: 200,
    title,
    isPublic,
    head: isPublic ? previewTags(diamond, links, title, summary) : NOTHING,
    content: html`<header>
        <h1>${title}</h1>
        <p class="soft">${summary}</p>
      </header>
      ${shownCut(diamond) === null ? NOTHING : figures(diamond, opening)}
      <section>${scoresSection(scores, isGradeAssumed(stoneOf(diamond)))}</section>
      <section>
        <h2>The stone</h2>
        ${list(factsOf(diamond.fields))}
      </section>
      ${designSection(diamond)} ${certificatesSection(diamond, links)}`,
  }
}

/** `1.50 ct Round` */
const headline = ({ fields }: LiveDiamond): string => `${fields.carat.toFixed(2)} ct ${shapeName(fields)}`

function summaryOf({ diamond, scores }: Pick<DiamondView, 'diamond' | 'scores'>): string {
  const facts = new Map(factsOf(diamond.fields))
  const said = ['Colour', 'Clarity', 'Cut'].flatMap((name) => {
    const value = facts.get(name)
    return value === undefined ? [] : [`${name.toLowerCase()} ${value}`]
  })
  const [first] = scores === null ? [] : gradedScores(scores)
  if (first !== undefined) said.push(`${first.title.toLowerCase()} ${first.value.toFixed(2)}, ${gradeOf(first)}`)
  const text = said.join(' · ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** Addresses relative to the page's: a proxy may put a path before it. */
function figures({ id, fields }: LiveDiamond, { signature, up }: Opening): Html {
  const query = signature === '' ? '' : `?signature=${encodeURIComponent(signature)}`
  const shape = shapeName(fields).toLowerCase()
  return html`<div class="pictures">
    <figure>
      <img src="${up}${String(id)}/face-up.png${query}" alt="A ${shape} cut from above, as it looks in a room" />
      <figcaption>Face-up, traced from a model of the cut</figcaption>
    </figure>
    <figure>
      <img
        src="${up}${String(id)}/aset.png${query}"
        alt="The same cut in ASET light: by colour, from which heights its light comes"
      />
      <figcaption>
        ASET: red from high, green from low, blue behind the viewer&#8217;s head, white is leakage
      </figcaption>
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
    ${list(measuredFacts(measured))}
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
