import { z } from 'zod'
import { feedsOf } from '../../commands/feeds/feeds.ts'
import { accountFold, accountStream } from '../../domain/account/account.ts'
import type { Feed } from '../../domain/feed/feed.ts'
import { RequestError } from '../../domain/request-error.ts'
import { VERSION } from '../../runtime/version.ts'
import { createExportResponse, EXPORT_HEADERS, EXPORT_MEDIA_TYPES } from '../exports/exports.ts'
import { endpoint, type Authenticator, type EndpointGroup } from '../kit/endpoint.ts'
import { platformGroup } from '../kit/errors.ts'
import type { ResponseHeaders } from '../kit/response.ts'
import { parseSignature } from '../kit/signed-links.ts'
import { exportOf, FEED_PARAMETERS, pathOfFeed, type FeedServices } from './resource.ts'

/** Files for partners, at addresses that need no log-in. */
const feedGroup: EndpointGroup = {
  ...platformGroup,
  tag: 'Inventory',
  pathPrefixes: ['/feed'],
  headers: { 'Cache-Control': 'private, no-cache', 'X-Robots-Tag': 'noindex' },
}

type FeedPrincipal = { readonly account: number; readonly feed: Feed }

/**
 * Authenticates by the signature of a feed's address. Deletion and the state of the account are read from the log, so that
 * they take effect at once. An address that is guessed reveals nothing: each is missing for the same reason.
 */
const feedAddress: Authenticator<FeedPrincipal, FeedServices> = {
  scheme: 'signed-link',
  errorStatuses: [400, 404],
  async authenticate({ path, querystring }, { diamonds: { context, links } }) {
    const account = links.verify(path, parseSignature(querystring))?.revision
    if (account !== undefined) {
      const { state: owner } = await context.stateCache.load(context.store, accountStream(account), accountFold)
      const feed = (await feedsOf(context, account)).find(({ id }) => pathOfFeed(id) === path)
      if (feed !== undefined && owner.status === 'enabled') return { account, feed }
    }
    throw new RequestError('missing', 'There is no such feed: the address is incomplete, or the feed was deleted')
  },
}

export const readFeed = endpoint({
  operationId: 'readFeed',
  method: 'GET',
  path: '/feed/{id}',
  summary: 'Retrieve the file of a feed, with the current stones of its account',
  auth: feedAddress,
  pathParameters: FEED_PARAMETERS,
  query: z.object({ signature: z.string().optional().describe("The signature of the feed's address.") }),
  requestHeaders: {
    'If-None-Match': z
      .string()
      .optional()
      .describe('ETags of copies that the client has.')
      .meta({ examples: ['W/"nmYn2CqY1mT8bM0dE1vJ4w"'] }),
    'If-Modified-Since': z.string().optional().describe('The Last-Modified of the copy that the client has.'),
  },
  responses: {
    200: {
      description: 'The file',
      mediaType: EXPORT_MEDIA_TYPES,
      schema: z.string(),
      headers: {
        ...EXPORT_HEADERS,
        ETag: "Changes with each change of the account's stones",
        'Last-Modified': "The time of the last change of the account's stones, rounded up to a second",
      },
    },
    304: 'Not modified since the copy that the client has',
    400: 'The signature is repeated, or its name is misspelt',
    404: 'No such feed: the address is incomplete, or the feed was deleted',
    429: 'Too many reads of feeds of the account at a time',
  },
  group: feedGroup,
  async handler(ctx, services: FeedServices) {
    const { account, feed } = ctx.state.principal
    const headers = await validatorsOf(account, feed, services)
    return createExportResponse(account, exportOf(feed), { ...services, exports: services.feeds }, headers)
  },
})

/**
 * The ETag is made with the key of links, since the file has signed links. Last-Modified is rounded up to a second, so that
 * files before and after a change in the same second have different ones once it is over.
 */
async function validatorsOf(
  account: number,
  { id, at }: Feed,
  { changes: { feed: changeFeed }, diamonds: { context, links } }: FeedServices,
): Promise<ResponseHeaders> {
  const { cursor, at: changedAt } = await changeFeed.latestChange(account)
  const tag = links.mac(`feed\n${id}\n${cursor}\n${links.baseUrl}\n${VERSION}`).toString('base64url')
  const changedSeconds = Math.ceil(Math.max(at, changedAt) / 1000)
  const modified = new Date(Math.min(changedSeconds, Math.floor(context.clock() / 1000)) * 1000)
  return { ETag: `W/"${tag}"`, 'Last-Modified': modified.toUTCString(), 'Accept-Ranges': 'none' }
}
