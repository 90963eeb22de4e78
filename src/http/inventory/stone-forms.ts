import { LABORATORIES } from '../../domain/certification/certification.ts'
import { ownersRevision, type DiamondView } from '../../projections/diamonds/diamond-view.ts'
import { diamondListJson } from '../../representations/diamond/diamond-json.ts'
import { fieldDisplayValue } from '../../representations/diamond/display-value.ts'
import type { LinkBuilder } from '../../representations/json.ts'
import { actionButton } from './forms.ts'
import { attribute, html, NOTHING, option, type Html } from '../kit/html.ts'

/** The part of a v4 diamond that the pages show. */
type V4Stone = {
  readonly id: number
  readonly sku: string
  readonly cutShape: string
  readonly carat: number
  readonly price: number | null
  readonly color: string | null
  readonly fancyGrade: string | null
  readonly colorModifier: string | null
  readonly colorHue: string | null
  readonly clarity: string | null
  readonly cutQuality: string | null
  readonly access: number
  readonly date: string
  readonly certifications: readonly Report[]
  readonly scores: { readonly integral: { readonly rg: number } | null } | null
  readonly _links: readonly { readonly rel: string; readonly href: string }[]
}

type Report = {
  readonly id: number
  readonly laboratory: string
  readonly number: string | null
  readonly file: string | null
}

/** A stone of the account. `revision` is that of the owner's last change. */
export type OwnStone = V4Stone & { readonly isPublished: boolean; readonly revision: number }

export function ownStonesOf(views: readonly DiamondView[], links: LinkBuilder): readonly OwnStone[] {
  const stones = JSON.parse(diamondListJson('v4', views, links)) as V4Stone[]
  return views.flatMap((view, index) => {
    const stone = stones[index]
    const { isPublished } = view.diamond.fields
    return stone === undefined ? [] : [{ ...stone, isPublished, revision: ownersRevision(view) }]
  })
}

/** Names of the buttons of the forms of a stone. */
export const STONE_ACTIONS = ['save', 'attach', 'delete'] as const
export type StoneAction = (typeof STONE_ACTIONS)[number]

const button = (action: StoneAction, text: string, attributes?: Html): Html => actionButton(action, text, attributes)

/** Where the forms of a stone are. */
type FormPlace = {
  /** From `pathToRoot`. */
  readonly home: string
  /** The page to show after a form was sent, from `pageIn`. */
  readonly page: string
}

/** A button that opens the pages and the forms of a stone over the list, without scripts. */
export function stoneMenu(stone: OwnStone, place: FormPlace): Html {
  const { sku, _links } = stone
  const id = String(stone.id)
  const report = _links.find(({ rel }) => rel === 'page.report')?.href
  return html`<button
      type="button"
      class="quiet"
      id="stone-${id}"
      popovertarget="menu-${id}"
      aria-label="Menu of ${sku}"
    >
      Menu
    </button>
    <div popover id="menu-${id}" role="dialog" aria-labelledby="name-${id}">
      <h2 id="name-${id}">${sku}</h2>
      <p class="links">
        ${report === undefined ? NOTHING : html`<a href="${report}" aria-label="Report of ${sku}">Report</a>`}
        <a href="${place.home}inventory/${id}" aria-label="History of ${sku}">History</a>
      </p>
      ${stoneForms(stone, place)}
      <button type="button" class="quiet" popovertarget="menu-${id}" popovertargetaction="hide">Close</button>
    </div>`
}

/** @param price as it was entered, if it was rejected */
export function stoneForms(stone: OwnStone, { home, page }: FormPlace, price = stone.price?.toString() ?? ''): Html {
  const { sku, access, isPublished, revision, certifications } = stone
  const form = (attributes: Html, content: Html): Html =>
    html`<form method="post" action="${home}inventory/${String(stone.id)}" ${attributes}>
      <input type="hidden" name="page" value="${page}" />
      ${content}
    </form>`
  const upload: Html = { html: 'enctype="multipart/form-data"' }
  const saving = html`<input type="hidden" name="revision" value="${String(revision)}" />
    <label>Price <input name="price" type="number" min="0" step="any" inputmode="decimal" value="${price}" /></label>
    <label
      >Report page
      <select name="access">
        ${ACCESS.map((about, level) => option(level, `${fieldDisplayValue('access', level)}: ${about}`, level === access))}
      </select></label
    >
    <label class="check">
      <input type="checkbox" name="isPublished" value="1" ${attribute('checked', isPublished)} /> Published
    </label>
    ${button('save', 'Save')}`
  const deleting = html`<p>The stone and its reports are deleted from your inventory. There is no undo.</p>
    ${button('delete', `Delete ${sku}`, { html: 'class="danger"' })}`
  return html`${form(NOTHING, saving)}
    <details>
      <summary>Attach a report</summary>
      ${certifications.filter(({ file }) => file === null).map((report) => form(upload, missingPdf(report)))}
      ${form(upload, NEW_REPORT)}
    </details>
    <details>
      <summary>Delete this stone</summary>
      ${form(NOTHING, deleting)}
    </details>`
}

/** Who may open the report page, by level. */
const ACCESS = ['only with its signed link', 'anyone who knows its address', 'listed for everyone']

const missingPdf = ({ id, laboratory, number }: Report): Html =>
  html`<input type="hidden" name="replaces" value="${String(id)}" />
    <input type="hidden" name="laboratory" value="${laboratory}" />
    <input type="hidden" name="number" value="${number ?? ''}" />
    ${pdfInput(`PDF of ${laboratory} ${number ?? 'without a number'}`, attribute('required', true))}
    ${button('attach', 'Attach the PDF')}`

const pdfInput = (label: string, attributes: Html = NOTHING): Html =>
  html`<label>${label} <input name="file" type="file" accept="application/pdf" ${attributes} /></label>`

const NEW_REPORT = html`<label
    >Laboratory
    <select name="laboratory">
      ${LABORATORIES.map((name) => html`<option>${name}</option>`)}
    </select></label
  >
  <label>Report number <input name="number" maxlength="64" /></label>
  ${pdfInput('PDF, at most 10 MB')} ${button('attach', 'Attach the report')}`
