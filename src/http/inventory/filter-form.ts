import { FIELDS } from '../../domain/diamond/fields.ts'
import { topShapes } from '../../domain/dictionaries/shapes.ts'
import type { NEWEST_FIRST, Sort } from '../../projections/diamonds/list-query.ts'
import { html, NOTHING, type Html } from '../kit/html.ts'

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

const MANY: Readonly<Record<string, readonly string[]>> = {
  'f[cutShape][]': topShapes().map(({ title }) => title),
  'f[color][]': FIELDS.color.dictionary.all.map(({ short }) => short),
  'f[clarity][]': FIELDS.clarity.dictionary.all.map(({ short }) => short),
}

/** The filters and orders of v4's list, as they are chosen now. It works without a script: a GET of the same page. */
export const filterForm = (query: URLSearchParams): Html =>
  html`<form class="filters" method="get">
    <div class="fields">
      <div>
        <label for="sku">SKU</label>
        <input id="sku" name="f[sku][]" type="search" maxlength="128" value="${query.get('f[sku][]') ?? ''}" />
      </div>
      ${range(query, 'Carat', 'carat', '0.01')} ${range(query, 'Price', 'price', '0.01')}
      ${select('Order', 'sort', [['', 'Newest first'], ...Object.entries(SORTED)], query.get('sort') ?? '')}
    </div>
    <details ${isFurther(query) ? OPEN : NOTHING}>
      <summary>More filters</summary>
      ${choices(query, 'Shape', 'f[cutShape][]')} ${choices(query, 'Colour', 'f[color][]')}
      ${choices(query, 'Clarity', 'f[clarity][]')}
      <div class="fields">
        ${chosen(query, 'Origin', 'f[isLabGrown]')} ${chosen(query, 'Kind of colour', 'f[isColored]')}
        ${chosen(query, 'Optical scores', 'f[hasScores]')} ${range(query, 'Performance', 'integral', 'any')}
        ${days(query)} ${chosen(query, 'Stones on a page', 'limit')}
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

const chosen = (query: URLSearchParams, label: string, name: keyof typeof CHOICES): Html =>
  select(label, name, CHOICES[name], query.get(name) ?? '')

function select(label: string, name: string, all: Choices, value: string): Html {
  const id = idOf(name)
  return html`<div>
    <label for="${id}">${label}</label>
    <select id="${id}" name="${name}">
      ${all.map(([one, text]) => html`<option value="${one}" ${one === value ? SELECTED : NOTHING}>${text}</option>`)}
    </select>
  </div>`
}

const idOf = (name: string) => name.replaceAll(/\W/g, '')

/** @param step `any`, or the least difference that is typed */
const range = (query: URLSearchParams, label: string, name: string, step: string): Html =>
  between(label, `f[${name}From]`, `f[${name}To]`, (one) => {
    const value = query.get(one) ?? ''
    return html`type="number" min="0" step="${step}" inputmode="decimal" value="${value}"`
  })

const days = (query: URLSearchParams): Html =>
  between('Created (UTC)', 'f[dateFrom]', 'f[dateTo]', (one) => {
    const value = query.get(one)?.slice(0, 10) ?? ''
    return html`type="date" value="${value}"`
  })

/** @param attributes of an input, by its name */
const between = (label: string, from: string, to: string, attributes: (name: string) => Html): Html =>
  html`<fieldset>
    <legend>${label}</legend>
    <div class="range">
      <input name="${from}" aria-label="${label}, from" ${attributes(from)} />
      <span class="soft">to</span>
      <input name="${to}" aria-label="${label}, to" ${attributes(to)} />
    </div>
  </fieldset>`

function choices(query: URLSearchParams, label: string, name: string): Html {
  const ticked = new Set(query.getAll(name))
  return html`<fieldset>
    <legend>${label}</legend>
    <div class="choices">
      ${(MANY[name] ?? []).map(
        (title) =>
          html`<label
            ><input
              type="checkbox"
              name="${name}"
              value="${title}"
              ${ticked.has(title) ? CHECKED : NOTHING}
            />${title}</label
          >`,
      )}
    </div>
  </fieldset>`
}
