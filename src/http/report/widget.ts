import type { LiveDiamond } from '../../domain/diamond/diamond.ts'
import { scoreBasisOf } from '../../domain/diamond/score-basis.ts'
import type { DiamondView } from '../../projections/diamonds/diamond-view.ts'
import { reportPageLink } from '../../representations/diamond/diamond-json.ts'
import { factsOf } from '../../representations/diamond/facts.ts'
import type { LinkBuilder } from '../../representations/json.ts'
import { html, NOTHING, type Html } from '../kit/html.ts'
import { WIDGET_SIZE, type ReportPage } from './layout.ts'
import { pictureBasisOf, pictureSubjectOf } from './pictures.ts'
import {
  faceUpImage,
  list,
  proportionLists,
  scoresOf,
  signatureQuery,
  summaryOf,
  titleOf,
  type ReportPageOptions,
} from './report-page.ts'
import { basisTag, scoreList } from './scores-section.ts'

/** The report page in brief, for a frame in a vendor's site. Its links open the report page in another tab. */
export function widgetOf(view: DiamondView, options: ReportPageOptions): ReportPage {
  const { diamond } = view
  const scores = scoresOf(view)
  const summary = summaryOf(diamond, null)
  const proportions = proportionLists(diamond)
  const report = `${options.home}diamond/${String(diamond.id)}${signatureQuery(options.signature)}`
  return {
    status: 200,
    title: titleOf(diamond),
    isPublic: false,
    content: html`${summary === '' ? NOTHING : html`<p class="soft">${summary}</p>`}
      <div class="overview">
        ${pictureSubjectOf(diamond) === null ? NOTHING : picture(diamond, options)}
        <div>${proportions === NOTHING ? list(factsOf(diamond.fields)) : proportions}</div>
      </div>
      <h2>Optical scores</h2>
      ${scoreList(scores, scoreBasisOf(diamond, scores))}
      <footer><a href="${report}" target="_blank" rel="noopener">Report with all details</a></footer>`,
  }
}

/** The line of HTML that shows the widget of a stone in a site; with the signed address if the page is restricted. */
export function embeddingLine(diamond: LiveDiamond, links: LinkBuilder): string {
  const [page = '', query] = reportPageLink(diamond, links).split('?', 2)
  const address = `${page}/widget${query === undefined ? '' : `?${query}`}`
  const size = { html: `width="${WIDGET_SIZE.width}" height="${WIDGET_SIZE.height}"` }
  return html`<iframe src="${address}" ${size} title="${titleOf(diamond)}" loading="lazy" style="border: 0"></iframe>`
    .html
}

const picture = (diamond: LiveDiamond, options: ReportPageOptions): Html =>
  html`<figure>
    ${faceUpImage(diamond, options)}
    <figcaption>${basisTag(pictureBasisOf(diamond))}</figcaption>
  </figure>`

/** What the frame shows when the stone was deleted or is no longer accessible. */
export const missingWidget = (): ReportPage => ({
  status: 404,
  title: 'This stone is not available',
  isPublic: false,
  content: html`<p>It may have been sold, or its report is no longer public.</p>`,
})
