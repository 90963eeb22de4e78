import { cutQuality } from '../../domain/dictionaries/cut-grades.ts'
import { fieldDisplayName, fieldDisplayValue } from '../../representations/diamond/display-value.ts'
import { html, type Html } from '../kit/html.ts'
import { dataTable, type TableColumn } from './data-table.ts'
import { stoneMenu, type OwnStone } from './stone-forms.ts'

type StoneColumn = TableColumn & {
  readonly render: (stone: OwnStone) => string | Html
}

/** Columns after the SKU, which is the row header. */
const COLUMNS: readonly StoneColumn[] = [
  { name: 'Shape', render: ({ cutShape }) => whole(cutShape) },
  { name: 'Carat', isNumber: true, render: ({ carat }) => carat.toFixed(2) },
  { name: 'Colour', render: (stone) => whole(colourOf(stone)) },
  { name: 'Clarity', render: ({ clarity }) => clarity ?? NONE },
  { name: 'Cut', render: ({ cutQuality: grade }) => (grade === null ? NONE : shortGrade(grade)) },
  { name: 'Price', isNumber: true, render: ({ price }) => (price === null ? NONE : AMOUNT.format(price)) },
  {
    name: 'Performance',
    isNumber: true,
    render: ({ scores }) => scores?.integral?.rg.toFixed(2) ?? NONE,
  },
  {
    name: 'Reports',
    render: ({ certifications }) => whole(certifications.map(({ laboratory }) => laboratory).join(', ') || NONE),
  },
  { name: fieldDisplayName('access'), render: ({ access }) => fieldDisplayValue('access', access) },
  { name: 'Created', render: ({ date }) => html`<time datetime="${date}">${date.slice(0, 10)}</time>` },
]

/** With two decimals, so that prices are aligned. */
const AMOUNT = new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 })

/** A text that the row may cut off. */
const whole = (text: string): Html => html`<span title="${text}">${text}</span>`

const shortGrade = (title: string): Html =>
  html`<abbr title="${title}">${cutQuality.all.find((grade) => grade.title === title)?.short ?? title}</abbr>`

const NONE = '–'

function colourOf({ color, fancyGrade, colorModifier, colorHue }: OwnStone): string {
  const fancy = [fancyGrade, colorModifier, colorHue].filter((part) => part !== null && part !== 'None').join(' ')
  return color ?? (fancy || NONE)
}

/** A page of stones, each in one line. @param page the page itself, from `pageIn` */
export const stonesTable = (stones: readonly OwnStone[], home: string, page: string): Html =>
  html`<div class="stones">
    ${dataTable(
      [{ name: 'SKU' }, ...COLUMNS, { name: 'Menu' }],
      stones.map((stone) => [
        whole(stone.sku),
        ...COLUMNS.map(({ render }) => render(stone)),
        stoneMenu(stone, { home, page }),
      ]),
    )}
  </div>`
