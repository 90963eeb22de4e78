import { z } from 'zod'
import { createFeed, deleteFeed, feedsOf } from '../../commands/feeds/feeds.ts'
import type { Feed } from '../../domain/feed/feed.ts'
import { EXPORT_FORMAT_NAMES, EXPORT_FORMATS } from '../../trade-files/export/formats.ts'
import { jsonOfQuery, queryOfJson } from '../diamonds/json-filters.ts'
import { FILTER_QUERY } from '../diamonds/list-query.ts'
import { actorOf } from '../diamonds/resource.ts'
import { feedUrl, parseFeed, type FeedServices } from '../feeds/resource.ts'
import type { BearerPrincipal } from '../kit/authenticate.ts'
import { endpoint, type EndpointContext } from '../kit/endpoint.ts'
import { html, NOTHING, option, type Html } from '../kit/html.ts'
import { alert, pathToRoot, timeOf } from '../kit/page.ts'
import { defineParameters } from '../kit/parameters/parameters.ts'
import { seeOther, type HttpResponse } from '../kit/response.ts'
import { selectionView } from './exports.ts'
import { actionButton, describeRefusal, LOG_IN_RESPONSE, pressedAction } from './forms.ts'
import { describeFilters } from './inventory-page.ts'
import { accountActions, formPage, inventoryPagesGroup, pageIn } from './layout.ts'
import { sameSiteSession, session } from './session.ts'

const PATH = '/inventory/feeds'

export const showFeeds = endpoint({
  operationId: 'showFeeds',
  method: 'GET',
  path: PATH,
  summary: "Show the account's feeds, and a form that creates one with the filters of the query",
  auth: session,
  query: FILTER_QUERY,
  responses: {
    200: { description: 'The page, or the log-in form', mediaType: 'text/html' },
    400: 'A query parameter is unknown or cannot be parsed',
    422: 'A query parameter is out of range',
  },
  group: inventoryPagesGroup,
  async handler(ctx, services: FeedServices) {
    jsonOfQuery(ctx.querystring)
    return feedsPage(ctx, services, { status: 200 })
  },
})

const ACTIONS = ['create', 'delete'] as const

const text = z.string('must be text').default('')

/** Bytes. The filters are in the address. */
const FORM_LIMIT = 16 * 1024

const Form = defineParameters(
  {
    do: text.describe('The button: `create` or `delete`.').meta({ examples: ['create'] }),
    name: text.describe('The name of a new feed.').meta({ examples: ['Partner'] }),
    format: text.describe('Its format.').meta({ examples: ['csv'] }),
    id: text.describe('The id of the feed to delete.'),
  },
  { rules: 'rack', maxBytes: FORM_LIMIT, ignoresQuery: true },
)

export const changeFeedsByPage = endpoint({
  operationId: 'changeFeedsByPage',
  method: 'POST',
  path: PATH,
  summary: 'Create a feed with the filters of the query, or delete one',
  auth: sameSiteSession,
  query: FILTER_QUERY,
  body: Form,
  responses: {
    200: LOG_IN_RESPONSE,
    303: { description: 'Done', headers: { Location: 'The page of feeds' } },
    400: 'The form has an unknown button, or a filter cannot be parsed',
    404: 'The account has no such feed',
    409: 'Feeds were changed by another request at the same time',
    422: 'A value is invalid, or the account has ten feeds; the page shows the form again',
  },
  group: inventoryPagesGroup,
  async handler(ctx, services: FeedServices) {
    const filters = jsonOfQuery(ctx.querystring)
    const { do: pressed, id, ...entered } = ctx.request.body
    const { context } = services.diamonds
    const action = pressedAction(ACTIONS, pressed)
    try {
      if (action === 'delete') await deleteFeed(context, actorOf(ctx), id)
      else await createFeed(context, actorOf(ctx), parseFeed({ ...entered, filters }))
      return seeOther(pathToRoot(ctx.originalUrl) + pageIn(PATH), { 'Cache-Control': 'no-store' })
    } catch (error) {
      const { status, message } = describeRefusal(error)
      return feedsPage(ctx, services, { status, errorMessage: alert(message), entered })
    }
  },
})

type FeedsPage = {
  readonly status: number
  readonly errorMessage?: Html
  /** What the form was sent with. */
  readonly entered?: EnteredFeed
}
type EnteredFeed = { readonly name: string; readonly format: string }

async function feedsPage(
  {
    originalUrl,
    querystring,
    state: { principal },
  }: Pick<EndpointContext<BearerPrincipal>, 'originalUrl' | 'querystring' | 'state'>,
  { diamonds: { context, links } }: FeedServices,
  { status, errorMessage = NOTHING, entered = { name: '', format: 'csv' } }: FeedsPage,
): Promise<HttpResponse> {
  const home = pathToRoot(originalUrl)
  const feeds = await feedsOf(context, principal.account)
  return formPage({
    status,
    title: 'Feeds',
    home,
    actions: accountActions(home),
    content: html`${errorMessage}
      <p>
        A feed is an address for a partner: their program fetches your current stones from it, without a password.
        Anyone who has the address can do so, until you delete the feed.
      </p>
      ${feeds.map((feed) => feedView(feed, feedUrl(feed.id, principal.account, links), home))}
      ${newFeedForm({ query: new URLSearchParams(querystring), home }, entered)}`,
  })
}

const formatTitle = (format: string): string =>
  EXPORT_FORMAT_NAMES.filter((name) => name === format).map((name) => EXPORT_FORMATS[name].title)[0] ?? format

function feedView({ id, name, format, filters, at }: Feed, url: string, home: string): Html {
  const query = queryOfJson(filters)
  const stones = query.size === 0 ? 'all stones' : `stones with ${describeFilters(query)}`
  return html`<section>
    <h2>${name}</h2>
    <p>${formatTitle(format)}, ${stones}. <span class="soft">Created ${timeOf(at)}.</span></p>
    <label>Address <input readonly value="${url}" /></label>
    <details>
      <summary>Delete this feed</summary>
      <form method="post" action="${home}inventory/feeds">
        <p>The address ends at once, and a new feed has another one.</p>
        <input type="hidden" name="id" value="${id}" />
        ${actionButton('delete', `Delete ${name}`, { html: 'class="danger"' })}
      </form>
    </details>
  </section>`
}

function newFeedForm(filters: Parameters<typeof selectionView>[0], { name, format }: EnteredFeed): Html {
  const { query, home } = filters
  const address = pageIn(`${PATH}?${query.toString()}`)
  return html`<h2>New feed</h2>
    ${selectionView(filters)}
    <form method="post" action="${home}${address}">
      <label>Name <input name="name" maxlength="100" required value="${name}" /></label>
      <label
        >Format
        <select name="format">
          ${EXPORT_FORMAT_NAMES.map((one) => option(one, EXPORT_FORMATS[one].title, one === format))}
        </select></label
      >
      ${actionButton('create', 'Create the feed')}
    </form>`
}
