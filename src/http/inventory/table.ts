import { fieldDisplayName, fieldDisplayValue } from '../../representations/diamond/display-value.ts'
import { html, NOTHING, type Html } from '../kit/html.ts'
import { dataTable, type TableColumn } from './data-table.ts'

/** The part of a v4 diamond that a row needs. */
export type StoneListItem = {
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
  readonly certifications: readonly { readonly laboratory: string | null }[]
  readonly scores: { readonly integral: { readonly val: number } | null } | null
  readonly _links: readonly { readonly rel: string; readonly href: string }[]
}

type StoneColumn = TableColumn & {
  readonly render: (stone: StoneListItem) => string | Html
}

/** Columns after the SKU, which is the row header. */
const COLUMNS: readonly StoneColumn[] = [
  { name: 'Shape', render: ({ cutShape }) => cutShape },
  { name: 'Carat', isNumber: true, render: ({ carat }) => carat.toFixed(2) },
  { name: 'Colour', render: colourOf },
  { name: 'Clarity', render: ({ clarity }) => clarity ?? NONE },
  { name: 'Cut', render: ({ cutQuality }) => cutQuality ?? NONE },
  { name: 'Price', isNumber: true, render: ({ price }) => price?.toLocaleString('en') ?? NONE },
  { name: 'Integral score', isNumber: true, render: ({ scores }) => scores?.integral?.val.toFixed(2) ?? NONE },
  { name: 'Reports', render: ({ certifications }) => certifications.map(laboratoryOf).join(', ') || NONE },
  { name: fieldDisplayName('access'), render: ({ access }) => fieldDisplayValue('access', access) },
  { name: 'Created', render: ({ date }) => html`<time datetime="${date}">${date.slice(0, 10)}</time>` },
]

const NONE = '–'

function colourOf({ color, fancyGrade, colorModifier, colorHue }: StoneListItem): string {
  const fancy = [fancyGrade, colorModifier, colorHue].filter((part) => part !== null && part !== 'None').join(' ')
  return color ?? (fancy || NONE)
}

const laboratoryOf = ({ laboratory }: StoneListItem['certifications'][number]) => laboratory ?? 'A report'

/** A page of stones. @param stonePagesUrl prefix of the links to the owner's pages */
export const stonesTable = (stones: readonly StoneListItem[], stonePagesUrl: string): Html =>
  dataTable(
    [{ name: 'SKU' }, ...COLUMNS, { name: 'Pages' }],
    stones.map((stone) => [
      stone.sku,
      ...COLUMNS.map(({ render }) => render(stone)),
      html`<span
        >${reportLink(stone)}
        <a href="${stonePagesUrl}${String(stone.id)}" aria-label="History of ${stone.sku}">History</a></span
      >`,
    ]),
  )

function reportLink({ sku, _links }: StoneListItem): Html {
  const href = _links.find(({ rel }) => rel === 'page.report')?.href
  return href === undefined ? NOTHING : html`<a href="${href}" aria-label="Report of ${sku}">Report</a>`
}
