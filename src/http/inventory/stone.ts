import { readDiamondHistory } from '../../projections/history/diamond-history.ts'
import { parseId } from '../../domain/entity-id.ts'
import { RequestError } from '../../domain/request-error.ts'
import { DIAMOND_ID, type DiamondServices } from '../diamonds/resource.ts'
import { seeOther } from '../kit/response.ts'
import { endpoint } from '../kit/endpoint.ts'
import { html } from '../kit/html.ts'
import { pathToRoot } from '../kit/page.ts'
import { reportPageResponse } from '../report/layout.ts'
import { ownersReport } from '../report/owners-page.ts'
import { inventoryPagesGroup } from './layout.ts'
import { optionalSession } from './session.ts'

export const showOwnStone = endpoint({
  operationId: 'showOwnStone',
  method: 'GET',
  path: '/inventory/{id}',
  summary: "Show the report page of one of the account's diamonds in the browser, with its history",
  auth: optionalSession,
  pathParameters: { id: DIAMOND_ID },
  responses: {
    200: { description: 'The page', mediaType: 'text/html' },
    303: { description: 'Not logged in', headers: { Location: 'The log-in form' } },
    404: 'The account has no such diamond',
  },
  group: inventoryPagesGroup,
  async handler({ params, originalUrl, state: { principal } }, { diamonds }: DiamondServices) {
    const home = pathToRoot(originalUrl)
    if (principal === undefined) return seeOther(`${home}inventory`, { 'Cache-Control': 'no-store' })
    const id = parseId(params.id) ?? 0
    const { lastView, isLive, transitions } = await readDiamondHistory(diamonds.context.store, id)
    // Do not reveal whether another account has this diamond.
    if (!isLive || lastView?.diamond.owner !== principal.account)
      throw new RequestError('missing', 'Your inventory has no such stone')
    const page = await ownersReport(lastView, transitions, diamonds, home)
    return reportPageResponse({ ...page, actions: html`<a href="${home}inventory">Your inventory</a>` })
  },
})
