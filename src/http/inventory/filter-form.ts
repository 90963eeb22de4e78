import { FIELDS } from '../../domain/diamond/fields.ts'
import { topShapes } from '../../domain/dictionaries/shapes.ts'
import type { NEWEST_FIRST, Sort } from '../../projections/diamonds/list-query.ts'
import { html, NOTHING, type Html } from '../kit/html.ts'
import { endsOf, LABELS, RANGES, type RangeName } from './labels.ts'

/** What can be chosen: what is sent, and what people read. */
type Choices = readonly (readonly [value: string, name: string])[]

const ANY = ['', 'Any'] as const

const CHOICES = {
  'f[isLabGrown]': [ANY, ['0', 'Natural'], ['1', 'Laboratory-grown']],
  'f[isColored]': [ANY, ['0', 'Colourless'], ['1', 'Fancy-coloured']],
  'f[hasScores]': [ANY, ['1', 'Computed'], ['0', 'Not computed']],
  limit: [
    ['', '25'],
    ['50', '50'],
    ['100', '100'],
  ],
} satisfies Record<string, Choices>

/** What is so unless told is not sent: an address has what somebody chose. */
const SORTED: Readonly<Record<Exclude<Sort, typeof NEWEST_FIRST>, string>> = {
  date: 'Oldest first',
  carat: 'Lightest first',
  '-carat': 'Heaviest first',
  price: 'Lowest price first',
  '-price': 'Highest price first',
  sku: 'By SKU',
  integral: 'Lowest performance first',
  '-integral': 'Highest performance first',
}

const MANY = {
  'f[cutShape][]': topShapes().map(({ title }) => title),
  'f[color][]': FIELDS.color.dictionary.all.map(({ short }) => short),
  'f[clarity][]': FIELDS.clarity.dictionary.all.map(({ short }) => short),
} satisfies Record<string, readonly string[]>

/** The filters and orders of v4's list, as they are chosen now. It works without a script: a GET of the same page. */
export const filterForm = (query: URLSearchParams): Html =>
  html`<form class="filters" method="get">
    <div class="fields">
      <div>
        <label for="sku">${LABELS['f[sku][]']}</label>
        <input id="sku" name="f[sku][]" type="search" maxlength="128" value="${query.get('f[sku][]') ?? ''}" />
      </div>
      ${amounts(query, 'carat', '0.01')} ${amounts(query, 'price', '0.01')}
      ${select(query, 'sort', [['', 'Newest first'], ...Object.entries(SORTED)])}
    </div>
    <details ${isFurther(query) ? OPEN : NOTHING}>
      <summary>More filters</summary>
      ${choices(query, 'f[cutShape][]')} ${choices(query, 'f[color][]')} ${choices(query, 'f[clarity][]')}
      <div class="fields">
        ${chosen(query, 'f[isLabGrown]')} ${chosen(query, 'f[isColored]')} ${chosen(query, 'f[hasScores]')}
        ${amounts(query, 'integral', 'any')} ${days(query)} ${chosen(query, 'limit')}
      </div>
    </details>
    <div class="deeds">
      <button type="submit">Show</button>
      ${query.size === 0 ? NOTHING : html`<a href="?">Without filters</a>`}
    </div>
  </form>`

const OPEN: Html = { html: 'open' }
const CHECKED: Html = { html: 'checked' }
const SELECTED: Html = { html: 'selected' }

const AT_HAND = new Set(['f[sku][]', 'f[caratFrom]', 'f[caratTo]', 'f[priceFrom]', 'f[priceTo]', 'sort', 'offset'])

/** Whether something is chosen that is not seen at once. */
const isFurther = (query: URLSearchParams): boolean => [...query.keys()].some((name) => !AT_HAND.has(name))

const chosen = (query: URLSearchParams, name: keyof typeof CHOICES): Html => select(query, name, CHOICES[name])

function select(query: URLSearchParams, name: keyof typeof LABELS, all: Choices): Html {
  const id = name.replaceAll(/\W/g, '')
  const value = query.get(name) ?? ''
  return html`<div>
    <label for="${id}">${LABELS[name]}</label>
    <select id="${id}" name="${name}">
      ${all.map(([one, text]) => html`<option value="${one}" ${one === value ? SELECTED : NOTHING}>${text}</option>`)}
    </select>
  </div>`
}

/** @param step `any`, or the least difference that is typed */
const amounts = (query: URLSearchParams, name: RangeName, step: string): Html =>
  range(name, (end) => {
    const value = query.get(end) ?? ''
    return html`type="number" min="0" step="${step}" inputmode="decimal" value="${value}"`
  })

const days = (query: URLSearchParams): Html =>
  range('date', (end) => {
    const value = query.get(end)?.slice(0, 10) ?? ''
    return html`type="date" value="${value}"`
  })

/** @param attributes of the input for an end, by its name */
function range(name: RangeName, attributes: (end: string) => Html): Html {
  const [from, to] = endsOf(name).map(
    ([end, label]) => html`<input name="${end}" aria-label="${label}" ${attributes(end)} />`,
  )
  return html`<fieldset>
    <legend>${RANGES[name]}</legend>
    <div class="range">${from ?? NOTHING} <span class="soft">to</span> ${to ?? NOTHING}</div>
  </fieldset>`
}

function choices(query: URLSearchParams, name: keyof typeof MANY): Html {
  const ticked = new Set(query.getAll(name))
  return html`<fieldset>
    <legend>${LABELS[name]}</legend>
    <div class="choices">${MANY[name].map((title) => box(name, title, ticked.has(title)))}</div>
  </fieldset>`
}

function box(name: string, title: string, isTicked: boolean): Html {
  const ticked = isTicked ? CHECKED : NOTHING
  return html`<label><input type="checkbox" name="${name}" value="${title}" ${ticked} />${title}</label>`
}
