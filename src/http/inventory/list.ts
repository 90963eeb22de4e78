import { Refusal } from '../../domain/refusal.ts'
import type { DiamondList } from '../../projections/diamonds/diamond-queries.ts'
import { listText } from '../../representations/diamond/body.ts'
import { LIST_QUERY, parseListQuery, type ListQuery } from '../diamonds/filters.ts'
import type { DiamondServices } from '../diamonds/resource.ts'
import type { Answer } from '../kit/answer.ts'
import type { Caller } from '../kit/authenticate.ts'
import { endpoint, type Asked } from '../kit/endpoint.ts'
import { refusedOf } from '../kit/errors.ts'
import { html, NOTHING, upFrom, type Html } from '../kit/html.ts'
import type { ReportServices } from '../report/report.ts'
import { queryOf } from './asked-query.ts'
import { filterForm } from './filter-form.ts'
import { inWords } from './labels.ts'
import { alert, inventoryFamily, pageAnswer } from './layout.ts'
import { logInPage } from './log-in.ts'
import { pagesNav, placeText } from './pages.ts'
import { visitor, type BrowserServices } from './session.ts'
import { stonesTable, type ShownStone } from './table.ts'

export type InventoryServices = BrowserServices & DiamondServices & ReportServices

export const showInventory = endpoint({
  name: 'showInventory',
  method: 'GET',
  path: '/inventory',
  about: "The account's stones in the browser, filtered and sorted as v4's list; a log-in to whoever has none here.",
  who: visitor,
  query: LIST_QUERY.v4.omit({ after: true }),
  answers: {
    200: { about: 'The page, or the log-in', media: 'text/html' },
    400: 'The query is not readable',
    422: 'The query asks for what there can not be, or for a list that no index serves: the page names one that is',
  },
  family: inventoryFamily,
  async run(asked, { diamonds }: DiamondServices) {
    const { asker, search, target } = asked
    const query = queryOf(search)
    try {
      // Pages are counted here: cursors of the API's lists are others'.
      const wanted = parseListQuery('v4', query.toString(), () => undefined)
      if (asker === undefined) return logInPage(200)
      return await listPage({ asker, target }, diamonds, query, wanted)
    } catch (error) {
      if (!(error instanceof Refusal) || (error.kind !== 'malformed' && error.kind !== 'invalid')) throw error
      const { status, faults } = refusedOf(error)
      const text = `${faults.map(({ message }) => message).join('. ')}.`
      // What can't be read was written by hand: its names are told.
      const said = alert(error.kind === 'invalid' ? inWords(text) : text)
      return asker === undefined ? logInPage(status, said) : refusedPage(status, { query, target, said })
    }
  },
})

type Shown = { readonly query: URLSearchParams; readonly target: string; readonly said: Html }

/** The form once more, with what is wrong and what was asked for. */
const refusedPage = (status: number, { query, target, said }: Shown): Answer =>
  pageAnswer({ status, title: TITLE, isWide: true, content: html`${logOut(target)} ${said} ${filterForm(query)}` })

const TITLE = 'Your inventory'

async function listPage(
  { asker, target }: { readonly asker: Caller } & Pick<Asked, 'target'>,
  { queries, links }: DiamondServices['diamonds'],
  query: URLSearchParams,
  { filter, page }: ListQuery,
): Promise<Answer> {
  const list = await queries.list(asker.account, filter, page)
  const stones = JSON.parse(listText('v4', list.views, links)) as ShownStone[]
  const up = upFrom(target)
  const content = html`${logOut(target)} ${filterForm(query)} ${freshness(list)}
    <p role="status">${placeText(list.total, page, stones.length)}</p>
    ${stones.length === 0 ? nothingShown(query, list.total, up) : stonesTable(stones, `${up}inventory/`)}
    ${pagesNav(query, page, list.total)}`
  return pageAnswer({ status: 200, title: TITLE, content, isWide: true })
}

const logOut = (target: string): Html =>
  html`<form class="log-out" method="post" action="${upFrom(target)}inventory/log-out">
    <button type="submit" class="quiet">Log out</button>
  </form>`

/** What is shown may be older than what is. */
function freshness({ current, age }: DiamondList): Html {
  if (age !== undefined)
    return html`<p class="soft">This was so ${String(age)} seconds ago: the log is away at the moment.</p>`
  return current
    ? NOTHING
    : html`<p class="soft">What was changed in the last moments may be missing here: look again.</p>`
}

function nothingShown(query: URLSearchParams, total: number, up: string): Html {
  if (total > 0) return html`<p>There is nothing on this page any more.</p>`
  if (query.size > 0) return html`<p>Remove some of the filters to see more.</p>`
  return html`<p>Stones come here by <a href="${up}docs">the API</a>, or by <code>npx adamant import</code>.</p>`
}
