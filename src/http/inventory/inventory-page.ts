import { stonesTable } from './table.ts'
import { FIELDS, type FieldName, type V4FilterableField } from '../../domain/diamond/fields.ts'
import { RequestError, type ErrorDetail } from '../../domain/request-error.ts'
import type { DiamondList } from '../../projections/diamonds/diamond-queries.ts'
import { attributeOf, NEWEST_FIRST, parametersOf } from '../../projections/diamonds/list-attributes.ts'
import type { DiamondPageRequest } from '../../projections/diamonds/list-plan.ts'
import { FIELD_DESCRIPTIONS, type FieldDescription } from '../../representations/diamond/field-descriptions.ts'
import { LIST_QUERY, parseListQuery, type ListQuery } from '../diamonds/list-query.ts'
import type { DiamondServices } from '../diamonds/resource.ts'
import { seeOther, type HttpResponse } from '../kit/response.ts'
import { endpoint } from '../kit/endpoint.ts'
import { toHttpErrorDetails } from '../kit/errors.ts'
import { attribute, html, NOTHING, option, type Html } from '../kit/html.ts'
import { alert, errorText, pathToRoot } from '../kit/page.ts'
import { countText, plural } from './count-text.ts'
import { accountActions, inventoryPagesGroup, logInPage, pageIn, widePage } from './layout.ts'
import { ownStonesOf } from './stone-forms.ts'
import { optionalSession } from './session.ts'
import { valuesOf } from './values.ts'

export const showInventory = endpoint({
  operationId: 'showInventory',
  method: 'GET',
  path: '/inventory',
  summary:
    "Show the account's inventory in the browser, with the filters and sort orders of v4's list, or the log-in form",
  auth: optionalSession,
  query: LIST_QUERY.v4.omit({ after: true }),
  responses: {
    200: { description: 'The inventory, or the log-in form', mediaType: 'text/html' },
    303: { description: 'A parameter is empty', headers: { Location: 'The page without empty parameters' } },
    400: 'A query parameter is unknown or cannot be parsed',
    422: 'A query parameter is out of range, or no index supports the combination; the page suggests one that works',
  },
  group: inventoryPagesGroup,
  async handler(ctx, { diamonds }: DiamondServices) {
    const { originalUrl: target } = ctx
    const { principal } = ctx.state
    const given = [...new URLSearchParams(ctx.querystring)]
    const filled = given.filter(([, value]) => value.trim() !== '')
    // The form sends its empty fields too; the address to bookmark is without them.
    if (filled.length < given.length)
      return seeOther(pathToRoot(target) + pageIn(`/inventory?${new URLSearchParams(filled).toString()}`))
    const query = queryOf(filled)
    try {
      // This page uses offset pagination only.
      const listQuery = parseListQuery('v4', query.toString(), () => undefined)
      if (principal === undefined) return logInPage({ status: 200, target })
      return await listPage({ account: principal.account, target }, diamonds, query, listQuery)
    } catch (error) {
      if (!(error instanceof RequestError) || (error.kind !== 'malformed' && error.kind !== 'invalid')) throw error
      const { status, faults } = toHttpErrorDetails(error)
      const errorMessage = alert(errorText(faults.map(inWordsOfForm)))
      return principal === undefined
        ? logInPage({ status, target, errorMessage })
        : inventoryPage(status, target, html`${errorMessage} ${filterForm(query)}`)
    }
  },
})

/** The query of a list: a day of the form becomes its first second, or its last second at the end of a range. */
const queryOf = (parameters: readonly [name: string, value: string][]): URLSearchParams =>
  new URLSearchParams(
    parameters.map(([name, value]): [string, string] => {
      const day = value.trim()
      return [name, DAY.test(day) && TIMES[name] !== undefined ? day + TIMES[name] : value]
    }),
  )

const DAY = /^\d{4}-\d\d-\d\d$/

/** In UTC, as lists show dates. */
const TIMES: Readonly<Record<string, string>> = { 'f[dateFrom]': 'T00:00:00Z', 'f[dateTo]': 'T23:59:59Z' }

async function listPage(
  { account, target }: { readonly account: number; readonly target: string },
  { queries, links }: DiamondServices['diamonds'],
  query: URLSearchParams,
  { filter, page }: ListQuery,
): Promise<HttpResponse> {
  const list = await queries.list(account, filter, page)
  const stones = ownStonesOf(list.views, links)
  const home = pathToRoot(target)
  const content = html`${filterForm(query)} ${stalenessNote(list)}
    <p role="status">${pageSummary(list.total, page, stones.length)}</p>
    ${stones.length === 0 ? NOTHING : html`<p><a href="${exportAddress(query, home)}">Export these stones</a></p>`}
    ${stones.length === 0 ? emptyListNote(query, list.total, home) : stonesTable(stones, home, pageIn(target))}
    ${pagesNav(query, page, list.total)}`
  return inventoryPage(200, target, content)
}

function inventoryPage(status: number, target: string, content: Html): HttpResponse {
  const home = pathToRoot(target)
  return widePage({ status, title: 'Your inventory', home, actions: accountActions(home), content })
}

/** The form with the filters and sort orders of v4's list. Submitting it is a GET of the same page, without scripts. */
const filterForm = (query: URLSearchParams): Html =>
  html`<form class="filters" method="get">
    <div class="fields">
      <div>
        <label for="sku">${FIELD_DESCRIPTIONS.sku.filter}</label>
        <input id="sku" name="f[sku][]" type="search" maxlength="128" value="${query.get('f[sku][]') ?? ''}" />
      </div>
      ${PRIMARY_AMOUNTS.map((name) => amounts(query, name, '0.01'))} ${select(query, 'sort', SORT_OPTIONS)}
    </div>
    <details ${attribute('open', hasSecondaryFilter(query))}>
      <summary>More filters</summary>
      ${filteredOf('shape', 'entry').map((name) => choices(query, name))}
      <div class="fields">
        ${FLAGS.map((name) => optionSelect(query, `f[${name}]`))} ${optionSelect(query, 'f[hasScores]')}
        ${SECONDARY_AMOUNTS.map((name) => amounts(query, name, 'any'))} ${amounts(query, 'performance', 'any')}
        ${days(query)} ${optionSelect(query, 'limit')}
      </div>
    </details>
    <div class="deeds">
      <button type="submit">Show</button>
      ${query.size === 0 ? NOTHING : html`<a href="?">Clear filters</a>`}
    </div>
  </form>`

const PRIMARY_AMOUNTS = ['carat', 'price'] as const

type RangeName = FilteredFieldOfKind<'amount'> | 'performance' | 'date'

const amounts = (query: URLSearchParams, name: RangeName, step: string): Html =>
  range(name, (end) => {
    const value = query.get(end) ?? ''
    return html`type="number" min="0" step="${step}" inputmode="decimal" value="${value}"`
  })

function range(name: RangeName, attributes: (end: string) => Html): Html {
  const [from, to] = endsOf(name).map(
    ([end, label]) => html`<input name="${end}" aria-label="${label}" ${attributes(end)} />`,
  )
  return html`<fieldset>
    <legend>${RANGES.get(name) ?? name}</legend>
    <div class="range">${from ?? NOTHING} <span class="soft">to</span> ${to ?? NOTHING}</div>
  </fieldset>`
}

const endsOf = (name: RangeName) =>
  [
    [`f[${name}From]`, `${RANGES.get(name)}, from`],
    [`f[${name}To]`, `${RANGES.get(name)}, to`],
  ] as const

const isFilteredInV4 = (name: FieldName): name is V4FilterableField => FIELDS[name].filtered.some((one) => one === 'v4')

/** In the order of the form. */
const FILTERED_FIELDS = (Object.keys(FIELD_DESCRIPTIONS) as FieldName[]).filter(isFilteredInV4)

type Kinds = typeof FIELDS

type FilteredFieldOfKind<Kind extends string> = {
  [Name in V4FilterableField]: Kinds[Name]['kind'] extends Kind ? Name : never
}[V4FilterableField]

const filteredOf = <Kind extends Kinds[FieldName]['kind']>(...kinds: readonly Kind[]) =>
  FILTERED_FIELDS.filter((name): name is FilteredFieldOfKind<Kind> => kinds.some((kind) => kind === FIELDS[name].kind))

const AMOUNTS = filteredOf('amount')

/** Labels of ranges, which have two parameters: `f[caratFrom]` and `f[caratTo]`. */
const RANGES: ReadonlyMap<RangeName, string> = new Map([
  ...AMOUNTS.map((name) => [name, FIELD_DESCRIPTIONS[name].filter] as const),
  ['performance', 'Cut performance'],
  ['date', 'Created (UTC)'],
])

type Choices = readonly (readonly [value: string, name: string])[]

function select(query: URLSearchParams, name: string, options: Choices): Html {
  const id = name.replaceAll(/\W/g, '')
  const value = query.get(name) ?? ''
  return html`<div>
    <label for="${id}">${LABELS[name] ?? name}</label>
    <select id="${id}" name="${name}">
      ${options.map(([one, text]) => option(one, text, one === value))}
    </select>
  </div>`
}

/** Labels by query parameter. */
const LABELS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    FILTERED_FIELDS.filter((name) => attributeOf(name).filterKind !== 'range').map((name) => [
      parametersOf(attributeOf(name))[0],
      FIELD_DESCRIPTIONS[name].filter,
    ]),
  ),
  'f[hasScores]': 'Optical scores',
  sort: 'Order',
  limit: 'Stones per page',
}

const ordersOf = (name: FieldName): Choices => {
  const { orders }: FieldDescription = FIELD_DESCRIPTIONS[name]
  const [fromLeast, fromGreatest] = orders ?? []
  return [
    ...(fromLeast === undefined ? [] : [[name, fromLeast] as const]),
    ...(fromGreatest === undefined ? [] : [[`-${name}`, fromGreatest] as const]),
  ]
}

/** The default has an empty value, so that it does not appear in the URL. */
const SORT_OPTIONS: Choices = [
  ['', 'Newest first'],
  ['date', 'Oldest first'],
  ...AMOUNTS.flatMap(ordersOf),
  ...filteredOf('text').flatMap(ordersOf),
  ['performance', 'Lowest cut performance first'],
  ['-performance', 'Highest cut performance first'],
]

const nameOfOrder = (sort: string): string =>
  SORT_OPTIONS.find(([value]) => value === (sort === NEWEST_FIRST ? '' : sort))?.[1] ?? sort

/** Whether a filter under "More filters" is set. */
const hasSecondaryFilter = (query: URLSearchParams): boolean =>
  [...query.keys()].some((name) => !PRIMARY_PARAMETERS.has(name))

const PRIMARY_PARAMETERS = new Set<string>([
  'f[sku][]',
  ...PRIMARY_AMOUNTS.flatMap((name) => endsOf(name).map(([end]) => end)),
  'sort',
  'offset',
])

function choices(query: URLSearchParams, name: FilteredFieldOfKind<'shape' | 'entry'>): Html {
  const parameter = `f[${name}][]`
  const checkedTitles = new Set(query.getAll(parameter))
  return html`<fieldset>
    <legend>${FIELD_DESCRIPTIONS[name].filter}</legend>
    <div class="choices">${valuesOf(name).map((title) => checkbox(parameter, title, checkedTitles.has(title)))}</div>
  </fieldset>`
}

function checkbox(name: string, title: string, isChecked: boolean): Html {
  const checked = attribute('checked', isChecked)
  return html`<label><input type="checkbox" name="${name}" value="${title}" ${checked} />${title}</label>`
}

const FLAGS = filteredOf('flag')

const optionSelect = (query: URLSearchParams, name: keyof typeof CHOICES): Html => select(query, name, CHOICES[name])

const ANY = ['', 'Any'] as const

const CHOICES: Readonly<Record<`f[${FilteredFieldOfKind<'flag'> | 'hasScores'}]` | 'limit', Choices>> = {
  'f[isLabGrown]': [ANY, ['0', 'Natural'], ['1', 'Laboratory-grown']],
  'f[isColored]': [ANY, ['0', 'Colourless'], ['1', 'Fancy-coloured']],
  'f[hasScores]': [ANY, ['1', 'Computed'], ['0', 'Not computed']],
  limit: [
    ['', '25'],
    ['50', '50'],
    ['100', '100'],
  ],
}

const SECONDARY_AMOUNTS = AMOUNTS.filter((name) => !PRIMARY_AMOUNTS.some((one) => one === name))

const days = (query: URLSearchParams): Html =>
  range('date', (end) => {
    const value = query.get(end)?.slice(0, 10) ?? ''
    return html`type="date" value="${value}"`
  })

/** A note if the list may be out of date. */
function stalenessNote({ isCurrent, ageSeconds }: DiamondList): Html {
  if (ageSeconds !== undefined)
    return html`<p class="soft">
      This list is ${String(ageSeconds)} seconds old: the event log is unavailable at the moment.
    </p>`
  return isCurrent ? NOTHING : html`<p class="soft">The latest changes may be missing; reload the page to see them.</p>`
}

/** The page that exports the stones of the list. */
function exportAddress(query: URLSearchParams, home: string): string {
  const filters = new URLSearchParams([...query].filter(([name]) => name.startsWith('f[')))
  return home + pageIn(`/inventory/export?${filters.toString()}`)
}

type PageWindow = Pick<DiamondPageRequest, 'limit' | 'offset'>

/** `Stones 26 to 50 of 1,234` */
function pageSummary(total: number, { offset }: PageWindow, shownCount: number): string {
  if (total === 0) return 'No stones'
  const totalText = plural(total, 'stone', 'stones')
  return shownCount === 0 || shownCount === total
    ? totalText
    : `Stones ${countText(offset + 1)} to ${countText(offset + shownCount)} of ${countText(total)}`
}

function emptyListNote(query: URLSearchParams, total: number, home: string): Html {
  if (total > 0) return html`<p>There are no stones on this page.</p>`
  if (query.size > 0) return html`<p>Remove some of the filters to see more.</p>`
  return html`<p>
    <a href="${home}inventory/import">Import a stock list</a>, or add stones through <a href="${home}docs">the API</a>.
  </p>`
}

function pagesNav(query: URLSearchParams, { limit, offset }: PageWindow, total: number): Html {
  const last = Math.max(0, Math.floor((total - 1) / limit) * limit)
  const pageLink = (name: string, pageOffset: number) =>
    html`<li><a href="${addressOf(query, pageOffset)}">${name}</a></li>`
  const links = [
    ...(offset > 0
      ? [pageLink('First', 0), pageLink('Previous', Math.max(0, Math.min(offset, last + limit) - limit))]
      : []),
    ...(offset + limit < total ? [pageLink('Next', offset + limit), pageLink('Last', last)] : []),
  ]
  if (links.length === 0) return NOTHING
  return html`<nav aria-label="Pages">
    <ul class="pages">
      ${links}
    </ul>
  </nav>`
}

function addressOf(query: URLSearchParams, offset: number): string {
  const pageQuery = new URLSearchParams(query)
  pageQuery.delete('after')
  pageQuery.set('offset', String(offset))
  return `?${pageQuery.toString()}`
}

/** The filters of a query in the words of the form: `Shape: Pear or Oval; Carat, from: 1`. */
export function describeFilters(query: URLSearchParams): string {
  const labels = new Map(LABELLED_FILTERS)
  const choicesOf: Readonly<Record<string, Choices>> = CHOICES
  const valueText = (name: string, value: string) => choicesOf[name]?.find(([one]) => one === value)?.[1] ?? value
  return [...new Set(query.keys())]
    .map((name) => {
      const values = query.getAll(name).map((value) => valueText(name, value))
      return `${labels.get(name) ?? name}: ${values.join(' or ')}`
    })
    .join('; ')
}

/** Names parameters as the form does; one that it does not have keeps its name. */
function inWordsOfForm(fault: ErrorDetail): ErrorDetail {
  if (fault.code === 'unknown_parameter') return fault
  const message = LABELLED_FILTERS.reduce((text, [name, label]) => text.replaceAll(name, label), fault.message)
    .replaceAll(/(&?)sort=(-?\w+)/g, (_all, and: string, sort: string) => `${and && ' with '}“${nameOfOrder(sort)}”`)
    .replace(/^(?:sort|limit)(?= )/, (name) => LABELS[name] ?? name)
  return { ...fault, message }
}

const LABELLED_FILTERS: readonly (readonly [string, string])[] = [
  ...Object.entries(LABELS).filter(([name]) => name.startsWith('f[')),
  ...[...RANGES.keys()].flatMap(endsOf),
]
