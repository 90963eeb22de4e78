import { z } from 'zod'
import { createFeed, deleteFeed, feedsOf } from '../../commands/feeds/feeds.ts'
import { actorOf } from '../diamonds/resource.ts'
import { bearer } from '../kit/authenticate.ts'
import { endpoint } from '../kit/endpoint.ts'
import { accountGroup } from '../kit/errors.ts'
import { json } from '../kit/json-body.ts'
import { createResponse, noContent, ok } from '../kit/response.ts'
import { FEED, FEED_PARAMETERS, NEW_FEED, parseFeed, toFeedBody, type FeedServices } from './resource.ts'

const PATH = '/v4/feed'

export const createFeedEndpoint = endpoint({
  operationId: 'createFeed',
  method: 'POST',
  path: PATH,
  summary:
    'Create a feed: a file with the current stones at an address for a partner. An account may have at most 10 feeds.',
  auth: bearer,
  body: json(NEW_FEED),
  group: accountGroup,
  responses: {
    201: { description: 'The feed', schema: FEED },
    409: 'Feeds were changed by another request; send the request again',
  },
  async handler(ctx, { diamonds: { context, links } }: FeedServices) {
    const feed = await createFeed(context, actorOf(ctx), parseFeed(ctx.request.body))
    return createResponse(201, toFeedBody(feed, ctx.state.principal.account, links))
  },
})

export const listFeeds = endpoint({
  operationId: 'listFeeds',
  method: 'GET',
  path: PATH,
  summary: "List the account's feeds in the order of their creation",
  auth: bearer,
  group: accountGroup,
  responses: { 200: { description: 'All feeds', schema: z.array(FEED) } },
  async handler({ state: { principal } }, { diamonds: { context, links } }: FeedServices) {
    const feeds = await feedsOf(context, principal.account)
    return ok(feeds.map((feed) => toFeedBody(feed, principal.account, links)))
  },
})

export const removeFeed = endpoint({
  operationId: 'deleteFeed',
  method: 'DELETE',
  path: `${PATH}/{id}`,
  summary: 'Delete a feed: its address is 404 at once',
  auth: bearer,
  pathParameters: FEED_PARAMETERS,
  group: accountGroup,
  responses: {
    204: 'Deleted',
    404: 'The account has no such feed',
    409: 'Feeds were changed by another request; send the request again',
  },
  async handler(ctx, { diamonds: { context } }: FeedServices) {
    await deleteFeed(context, actorOf(ctx), ctx.params.id)
    return noContent()
  },
})
