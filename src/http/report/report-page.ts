import { figuresOf, profileOf, proportionFacts } from './profile.ts'
import { correction, generate } from 'lean-qr'
import { toSvgPath } from 'lean-qr/extras/svg'
import { DateTime } from 'luxon'
import type { Certification } from '../../domain/certification/certification.ts'
import { contradictionTexts } from '../../domain/certification/contradictions.ts'
import { differenceTexts } from '../../domain/certification/warnings.ts'
import { reportCheckUrl } from '../../domain/certification/page-cells.ts'
import { fileLinkRevision, type LiveDiamond } from '../../domain/diamond/diamond.ts'
import { scoreBasisOf, type ScoreSource } from '../../domain/diamond/score-basis.ts'
import { proportionsOf } from '../../domain/diamond/scored-stone.ts'
import type { Scores } from '../../optics/scores.ts'
import { modelWarnings } from '../../domain/diamond/stone-model.ts'
import type { PictureKind } from '../../optics/picture/picture.ts'
import { OPTICS_VERSION } from '../../optics/version.ts'
import { revisionText, type DiamondView } from '../../projections/diamonds/diamond-view.ts'
import { certificationFilePath } from '../../representations/certification.ts'
import { caratText, factsOf, qualifiedName, shapeName, type StoneFact } from '../../representations/diamond/facts.ts'
import { parseScores } from '../../representations/diamond/scores-json.ts'
import { LINK_LIFETIMES } from '../../representations/json.ts'
import { modelPath } from '../../representations/stone-model.ts'
import { html, NOTHING, type Html } from '../kit/html.ts'
import type { SignedLinks } from '../kit/signed-links.ts'
import { basisTag, gradedScores, gradeOf, scoresSection } from './scores-section.ts'
import type { ReportPage } from './layout.ts'
import { pictureBasisOf, pictureSubjectOf } from './pictures.ts'

export type ReportPageOptions = {
  /** The signature that gave access; empty if none was needed. */
  readonly signature: string
  /** From `pathToRoot`. */
  readonly home: string
}

/** Renders the report page of a diamond. */
export function reportOf(view: DiamondView, links: SignedLinks, options: ReportPageOptions): ReportPage {
  const { diamond } = view
  const scores = scoresOf(view)
  const basis = scoreBasisOf(diamond, scores)
  const isPublic = diamond.fields.access === 2
  const title = titleOf(diamond)
  const summary = summaryOf(diamond, scores)
  return {
    status: 200,
    title,
    isPublic,
    head: isPublic ? previewTags(diamond, links, title, summary) : NOTHING,
    home: options.home,
    content: html`<p class="soft">${summary}</p>
      ${pictureSubjectOf(diamond) === null ? NOTHING : figures(diamond, options)}
      <section>${scoresSection(scores, basis, diamond.fields.dataAccess > 0)}</section>
      <section>
        <h2>The stone</h2>
        ${list(factsOf(diamond.fields))}
      </section>
      ${designSection(diamond)} ${certificatesSection(diamond, links)} ${modelSection(diamond, links)}
      ${imprint(view, scores, links, options)}`,
  }
}

/** null until they are computed. */
export const scoresOf = ({ scores }: DiamondView): Scores | null => (scores === null ? null : parseScores(scores))

/** `1.20 ct Pear diamond` */
export const titleOf = ({ fields }: LiveDiamond): string =>
  `${caratText(fields)} ${shapeName(fields)} ${qualifiedName(fields)}`

export function summaryOf({ fields }: LiveDiamond, scores: Scores | null): string {
  const facts = new Map(factsOf(fields))
  const phrases = ['Colour', 'Clarity', 'Cut grade'].flatMap((name) => {
    const value = facts.get(name)
    return value === undefined ? [] : [`${name.toLowerCase()} ${value}`]
  })
  const [first] = scores === null ? [] : gradedScores(scores)
  if (first !== undefined)
    phrases.push(`${first.title.toLowerCase()} ${first.value.toFixed(2)}, ${gradeOf(first)} on this page's scale`)
  const text = phrases.join(' · ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

const previewTags = ({ id }: LiveDiamond, { baseUrl }: SignedLinks, title: string, summary: string): Html =>
  html`<meta name="description" content="${summary}" />
    <meta property="og:type" content="website" />
    <meta property="og:title" content="${title}" />
    <meta property="og:description" content="${summary}" />
    <meta property="og:url" content="${baseUrl}/diamond/${String(id)}" />
    <meta property="og:image" content="${baseUrl}/diamond/${String(id)}/face-up.png" />
    <meta property="og:image:type" content="image/png" />
    <meta property="og:image:alt" content="The stone from above" />
    <meta name="twitter:card" content="summary" />`

/** The query that gives access to a page and its pictures, empty if none is needed. */
export const signatureQuery = (signature: string): string =>
  signature === '' ? '' : `?signature=${encodeURIComponent(signature)}`

/** Relative, because a proxy may add a path prefix. */
const pictureAddress = ({ id }: LiveDiamond, kind: PictureKind, { signature, home }: ReportPageOptions): string =>
  `${home}diamond/${String(id)}/${kind}.png${signatureQuery(signature)}`

/** The picture from above, as an image. */
export const faceUpImage = (diamond: LiveDiamond, options: ReportPageOptions): Html =>
  image(
    pictureAddress(diamond, 'face-up', options),
    `A ${shapeName(diamond.fields).toLowerCase()} cut from above, as it looks in a room`,
  )

const image = (address: string, alt: string): Html => html`<img src="${address}" alt="${alt}" />`

/**
 * As wide as the picture's place: a loaded picture pushes it into the next line, which is not shown. Behind a picture it would
 * shine through.
 */
const PLACEHOLDER = html`<span class="drawing" aria-hidden="true">Drawing&#8230;</span>`

function figures(diamond: LiveDiamond, options: ReportPageOptions): Html {
  const basis = pictureBasisOf(diamond)
  const tag = basisTag(basis)
  const isScanned = basis === 'facets'
  const link = (kind: PictureKind, content: Html) =>
    html`<a class="drawn" href="${pictureAddress(diamond, kind, options)}">${content}${PLACEHOLDER}</a>`
  const picture = (kind: PictureKind, alt: string) => link(kind, image(pictureAddress(diamond, kind, options), alt))
  return html`<div class="pictures">
    <figure>
      ${link('face-up', faceUpImage(diamond, options))}
      <figcaption>${tag}<br />Face-up, traced from ${isScanned ? 'its own 3D file' : 'a model of the cut'}</figcaption>
    </figure>
    <figure>
      ${picture('aset', 'The same cut in ASET light: colours show the angles from which the light comes')}
      <figcaption>
        ${tag}<br />ASET: red is light from high angles, green from low angles, blue is obscured by the viewer&#8217;s
        head, white is leakage
      </figcaption>
    </figure>
    <figure class="rocked">
      ${picture('rocked', 'The same cut face-up, tilted in five steps from -15 to 15 degrees')}
      <figcaption>${tag}<br />Tilted from -15° to 15°: which parts sparkle and which stay dark</figcaption>
    </figure>
  </div>`
}

export const list = (facts: readonly StoneFact[]): Html =>
  html`<dl>
    ${facts.map(
      ([name, value]) =>
        html`<div>
          <dt>${name}</dt>
          <dd>${value}</dd>
        </div>`,
    )}
  </dl>`

function designSection(diamond: LiveDiamond): Html {
  const figures = figuresOf(proportionsOf(diamond))
  const proportions = proportionLists(diamond, figures)
  if (proportions === NOTHING) return NOTHING
  return html`<section>
    <h2>Proportions</h2>
    ${profileOf(diamond, figures)} ${proportions}
  </section>`
}

/** NOTHING if none are known, or hidden: they are design data, which `dataAccess` 0 hides. */
export function proportionLists(diamond: LiveDiamond, figures = figuresOf(proportionsOf(diamond))): Html {
  const [measured, stated] = [proportionFacts(figures.measured), proportionFacts(figures.stated)]
  if (diamond.fields.dataAccess === 0 || measured.length + stated.length === 0) return NOTHING
  return html`${proportionList('report', measured)} ${proportionList('owner', stated)}`
}

const proportionList = (source: ScoreSource, facts: readonly StoneFact[]): Html =>
  facts.length === 0
    ? NOTHING
    : html`<p>${basisTag(source)}</p>
        ${list(facts)}`

/**
 * Lists laboratories; numbers, links and files only if `dataAccess` is 2 (show all). Marks reports that contradict the
 * diamond's record, with details if the report is shown.
 */
function certificatesSection(diamond: LiveDiamond, links: SignedLinks): Html {
  const { certifications, fields } = diamond
  if (certifications.length === 0) return NOTHING
  const entry =
    fields.dataAccess === 2
      ? (certification: Certification) => fullEntry(certification, diamond, links)
      : (certification: Certification) => bareEntry(certification, diamond)
  return html`<section>
    <h2>Certificates</h2>
    <ul>
      ${certifications.map(entry)}
    </ul>
  </section>`
}

function fullEntry(certification: Certification, diamond: LiveDiamond, links: SignedLinks): Html {
  const { id, laboratory, number, file } = certification
  const differences = differenceTexts(certification, diamond.fields)
  const checkUrl = reportCheckUrl(laboratory, number)
  const reportName = number === null ? laboratory : `${laboratory} ${number}`
  return html`<li>
    ${checkUrl === null ? html`${reportName}` : html`<a href="${checkUrl}" rel="noreferrer">${reportName} at the laboratory</a>`}
    ${
      file === null
        ? NOTHING
        : html`<a href="${links.signed(certificationFilePath(id), LINK_LIFETIMES.oneDay, fileLinkRevision(diamond))}"
            >Report ${number ?? laboratory}, PDF</a
          >`
    }
    ${differences.length === 0 ? NOTHING : warningNote(differences)}
  </li>`
}

/** @param warnings sentences without full stops */
export const warningNote = (warnings: readonly string[]): Html =>
  html`<strong class="warning">&#9888; ${warnings.join('. ')}.</strong>`

const bareEntry = (certification: Certification, { fields }: LiveDiamond): Html =>
  html`<li>
    ${certification.laboratory}
    ${contradictionTexts(certification, fields).length > 0 ? warningNote([CONTRADICTS]) : NOTHING}
  </li>`

const CONTRADICTS = 'The laboratory report contradicts this page'

/** A link to the 3D file, valid for a day. Shown only if `dataAccess` is 2 (show all). */
function modelSection(diamond: LiveDiamond, links: SignedLinks): Html {
  const { id, model, fields } = diamond
  if (model === undefined || fields.dataAccess !== 2) return NOTHING
  const { format, facets, file } = model
  const warnings = modelWarnings(model, fields)
  return html`<section>
    <h2>3D file</h2>
    <ul>
      <li>
        <a href="${links.signed(modelPath(id), LINK_LIFETIMES.oneDay, fileLinkRevision(diamond))}"
          >This stone as a 3D file, ${format}</a
        >
        <span class="soft">${facets.toLocaleString('en')} facets, ${sizeText(file.bytes)}</span>
        ${warnings.length === 0 ? NOTHING : warningNote(warnings)}
      </li>
    </ul>
  </section>`
}

/** In KB (1,000 bytes) or MB. */
const sizeText = (bytes: number): string =>
  bytes < 1e6 ? `${Math.max(1, Math.round(bytes / 1e3))} KB` : `${(bytes / 1e6).toFixed(1)} MB`

/**
 * The imprint for printed pages: report number (diamond id and revision, so that equal numbers mean equal content), date,
 * issuer, and the page's URL as text and QR code. It names the service rather than the owner, who stays anonymous.
 */
function imprint(
  view: DiamondView,
  scores: Scores | null,
  { baseUrl }: SignedLinks,
  { signature }: ReportPageOptions,
): Html {
  const { id } = view.diamond
  const day = DateTime.fromMillis(view.changedAt, { zone: 'utc' }).toISODate() ?? ''
  const pageUrl = `${baseUrl}/diamond/${id}${signatureQuery(signature)}`
  return html`<footer class="soft">
    <div>
      <p>
        Report ${`${id}-${revisionText(view)}`} of ${day}, issued by Adamant at ${new URL(baseUrl).host}. Scores by
        model ${scores?.brilliance?.ver ?? OPTICS_VERSION}. This is not a laboratory report.
      </p>
      <p class="address">${pageUrl}</p>
    </div>
    ${qrCode(pageUrl, "This page's address as a QR code")}
  </footer>`
}

/**
 * A QR code with error correction level M (15 %), black on white in every colour scheme.
 * @param text at most 2,331 bytes
 * @param label for screen readers
 * @throws Error if the text is too long
 */
export function qrCode(text: string, label: string): Html {
  const code = generate(text, { minCorrectionLevel: correction.M })
  const side = String(code.size + 2 * QUIET_ZONE_MODULES)
  return html`<svg
    class="qr"
    viewBox="${String(-QUIET_ZONE_MODULES)} ${String(-QUIET_ZONE_MODULES)} ${side} ${side}"
    shape-rendering="crispEdges"
    role="img"
    aria-label="${label}"
  >
    <path fill="#fff" d="M${String(-QUIET_ZONE_MODULES)} ${String(-QUIET_ZONE_MODULES)}h${side}v${side}h-${side}z" />
    <path fill="#000" d="${toSvgPath(code)}" />
  </svg>`
}

/** White margin in modules, required by ISO/IEC 18004. */
const QUIET_ZONE_MODULES = 4
