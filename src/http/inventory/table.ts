import { fieldDisplayName, fieldDisplayValue } from '../../representations/diamond/display-value.ts'
import { html, type Html } from '../kit/html.ts'
import { dataTable, type TableColumn } from './data-table.ts'
import { stoneMenu, type OwnStone } from './stone-forms.ts'

type StoneColumn = TableColumn & {
  readonly render: (stone: OwnStone) => string | Html
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
  {
    name: 'Reports',
    render: ({ certifications }) => certifications.map(({ laboratory }) => laboratory).join(', ') || NONE,
  },
  { name: fieldDisplayName('access'), render: ({ access }) => fieldDisplayValue('access', access) },
  { name: 'Created', render: ({ date }) => html`<time datetime="${date}">${date.slice(0, 10)}</time>` },
]

const NONE = '–'

function colourOf({ color, fancyGrade, colorModifier, colorHue }: OwnStone): string {
  const fancy = [fancyGrade, colorModifier, colorHue].filter((part) => part !== null && part !== 'None').join(' ')
  return color ?? (fancy || NONE)
}

/** A page of stones. @param page the page itself, from `pageIn` */
export const stonesTable = (stones: readonly OwnStone[], home: string, page: string): Html =>
  dataTable(
    [{ name: 'SKU' }, ...COLUMNS, { name: 'Edit' }],
    stones.map((stone) => [stone.sku, ...COLUMNS.map(({ render }) => render(stone)), stoneMenu(stone, { home, page })]),
  )
