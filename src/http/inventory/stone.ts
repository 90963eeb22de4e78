import { readDiamondHistory } from '../../projections/history/diamond-history.ts'
import { parseId } from '../../domain/entity-id.ts'
import { RequestError } from '../../domain/request-error.ts'
import { DIAMOND_ID, type DiamondServices } from '../diamonds/resource.ts'
import { endpoint } from '../kit/endpoint.ts'
import { pathToRoot } from '../kit/page.ts'
import { reportPageResponse } from '../report/layout.ts'
import { ownersReport } from '../report/owners-page.ts'
import { inventoryLink, inventoryPagesGroup } from './layout.ts'
import { session } from './session.ts'

export const showOwnStone = endpoint({
  operationId: 'showOwnStone',
  method: 'GET',
  path: '/inventory/{id}',
  summary: "Show the report page of one of the account's diamonds in the browser, with its history",
  auth: session,
  pathParameters: { id: DIAMOND_ID },
  responses: {
    200: { description: 'The page, or the log-in form', mediaType: 'text/html' },
    404: 'The account has no such diamond',
  },
  group: inventoryPagesGroup,
  async handler({ params, originalUrl, state: { principal } }, { diamonds }: DiamondServices) {
    const home = pathToRoot(originalUrl)
    const id = parseId(params.id) ?? 0
    const { lastView, isLive, transitions } = await readDiamondHistory(diamonds.context.store, id)
    // Do not reveal whether another account has this diamond.
    if (!isLive || lastView?.diamond.owner !== principal.account)
      throw new RequestError('missing', 'Your inventory has no such stone')
    const page = await ownersReport(lastView, transitions, diamonds, home)
    return reportPageResponse({ ...page, actions: inventoryLink(home) })
  },
})
