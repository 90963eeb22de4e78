import { z } from 'zod'
import type { ApiVersion } from '../../domain/diamond/field.ts'
import {
  CursorLost,
  CHANGE_KINDS,
  type FeedChange,
  type ChangeFeed,
  type ChangePage,
} from '../../projections/diamonds/change-feed.ts'
import { DIAMOND } from '../../representations/diamond/schemas.ts'
import { VERSION_PARAMETERS } from '../diamonds/resource.ts'
import { contentResponse, createResponse, ok, textStream, type HttpResponse } from '../kit/response.ts'
import { AccountSlots } from '../kit/account-slots.ts'
import { bearer, isStillAuthenticated, type BearerServices, type BearerPrincipal } from '../kit/authenticate.ts'
import { PENDING, staleHeaders } from '../kit/consistency.ts'
import { endpoint, type EndpointContext, type EndpointGroup } from '../kit/endpoint.ts'
import { accountGroup } from '../kit/errors.ts'
import { limit, queryReader, wholeNumber } from '../kit/parameters/query.ts'
import type { RequestActivity } from '../kit/request-activity.ts'

/** Interval of keep-alive comments, so that proxies do not close an idle stream. */
const KEEP_ALIVE_INTERVAL_MS = 15_000

/** Page size of a stream: the maximum number of changes in memory for each connection. */
export const CHANGES_PER_READ = 50

const COMMENT = ':\n\n'

export type ChangeStreamOptions = {
  readonly feed: Pick<ChangeFeed, 'after' | 'waitForChanges' | 'isStopped'>
  readonly version: ApiVersion
  readonly account: number
  readonly abortSignal: AbortSignal
}

/**
 * The change feed as server-sent events: existing changes first, then new ones, until the stream is aborted or the service
 * stops.
 * @param firstPage already read
 */
export async function* streamChangeEvents(
  { feed, version, account, abortSignal }: ChangeStreamOptions,
  firstPage: ChangePage,
) {
  yield COMMENT
  for (let page = firstPage; ; page = await feed.after(version, account, page.next, CHANGES_PER_READ)) {
    for (const change of page.changes) yield eventOf(change)
    if (!page.more) {
      await feed.waitForChanges(account, page.next, KEEP_ALIVE_INTERVAL_MS, abortSignal)
      if (page.changes.length === 0) yield COMMENT
    }
    if (abortSignal.aborted || feed.isStopped) return
  }
}

const eventOf = ({ cursor, text }: FeedChange) => `id: ${cursor}\nevent: change\ndata: ${text}\n\n`

/** Long polls and streams of an account at a time. Each occupies a connection. */
const MAX_WAITING_REQUESTS = 20

export const createLongPollSlots = () => new AccountSlots(MAX_WAITING_REQUESTS, 'requests for changes')

export type ChangeServices = BearerServices & {
  readonly changes: {
    readonly feed: ChangeFeed
    readonly longPollSlots: AccountSlots
    readonly activity: Pick<RequestActivity, 'excludeLongPoll'>
  }
}

/** How often a stream's token is checked. A stream must end within 10 s after its token expired or was revoked. */
const TOKEN_CHECK_INTERVAL_MS = 5_000
/** Milliseconds for the client to receive pending data after the stream has ended. */
const LINGER_MS = 2_000

const CURSOR = z.string().regex(/^\d+-\d+$/)

const CHANGE_KIND = z.enum(CHANGE_KINDS).meta({ id: 'WhatChanged' })

const changeSchema = (diamond: z.ZodType) =>
  z.object({
    cursor: CURSOR.describe('The cursor after this change.'),
    id: z.int(),
    sku: z.string(),
    what: z
      .array(CHANGE_KIND)
      .min(1)
      .describe('What happened to the diamond since `after`. `deleted` is always the only element.'),
    diamond: diamond.nullable().describe('The current diamond; null if it was deleted.'),
  })

const pageSchema = (diamond: z.ZodType) =>
  z.object({
    changes: z.array(changeSchema(diamond)),
    next: CURSOR.describe('The cursor for the next request, as `after`.'),
    more: z.boolean().describe('Whether more changes are available now.'),
  })

/** Like `accountGroup`, but 410 errors have the cursor to restart from. */
const changeFeedGroup: EndpointGroup = {
  ...accountGroup,
  pathPrefixes: [],
  errorFormat: {
    ...accountGroup.errorFormat,
    ...(accountGroup.errorFormat.schema instanceof z.ZodObject && {
      schema: accountGroup.errorFormat.schema.extend({
        restart: CURSOR.optional().describe('With 410: the cursor to restart from.'),
      }),
    }),
  },
  errorResponse(details, error, ctx) {
    const response = accountGroup.errorResponse(details, error, ctx)
    if (!(error instanceof CursorLost) || typeof response.body !== 'string') return response
    return createResponse(
      response.status,
      { ...(JSON.parse(response.body) as object), restart: error.restart },
      response.headers,
    )
  },
}

const QUERY = z.object({
  after: z
    .string()
    .optional()
    .describe('A cursor of the feed, or `now`. If absent, the feed starts at the beginning.')
    .meta({ examples: ['0-48213'] }),
  limit: limit(100).describe('Maximum number of changes per response.'),
  wait: wholeNumber(0, 60).default(0).describe('Long polling: how many seconds to wait if there are no changes yet.'),
})

type ChangesQuery = z.output<typeof QUERY>

const readQuery = queryReader(QUERY)

export const listChanges = endpoint({
  operationId: 'listChanges',
  method: 'GET',
  path: '/{version}/diamond/changes',
  summary:
    "List changes in the account's inventory since a cursor. Each diamond occurs once, ordered by its latest change. " +
    'Supports long polling and server-sent events.',
  auth: bearer,
  pathParameters: VERSION_PARAMETERS,
  query: QUERY,
  requestHeaders: {
    Accept: z
      .string()
      .optional()
      .describe('`text/event-stream` for server-sent events until the token expires or is revoked'),
    'Last-Event-ID': z.string().optional().describe('For a stream: takes precedence over `after`'),
  },
  group: changeFeedGroup,
  responses: {
    200: {
      description: 'The changes, and the cursor for the next request',
      schema: { v3: pageSchema(DIAMOND.v3), v4: pageSchema(DIAMOND.v4) },
    },
    400: 'A query parameter is unknown or cannot be parsed, or the cursor is malformed',
    410: 'The changes at the cursor were lost in a restore; continue from the cursor in `restart`',
    422: 'A query parameter is out of range',
    429: 'Too many concurrent requests of this account',
  },
  handler(ctx, services: ChangeServices) {
    const { version } = ctx.params
    const query = readQuery(ctx.querystring)
    if (ctx.accepts('json', EVENT_STREAM) !== EVENT_STREAM) return createPageResponse(ctx, version, query, services)
    const lastEvent = ctx.headers['last-event-id']
    const after = typeof lastEvent === 'string' && lastEvent !== '' ? lastEvent : query.after
    return createEventStreamResponse(ctx, version, { ...query, after }, services)
  },
})

const EVENT_STREAM = 'text/event-stream'

type ChangesRequest = EndpointContext<BearerPrincipal>

async function createPageResponse(
  ctx: ChangesRequest,
  version: ApiVersion,
  query: ChangesQuery,
  services: ChangeServices,
): Promise<HttpResponse> {
  const { feed } = services.changes
  const { account } = ctx.state.principal
  const page = await readFirstPage(feed, version, account, query)
  if (page.changes.length > 0 || page.more || query.wait === 0 || ctx.method === 'HEAD') return toPageResponse(page)
  return toPageResponse(await pollPage(ctx, version, { ...query, after: page.next }, services))
}

/** Long polling: waits for changes, then reads a page. If none arrived, `next` equals `after`. */
async function pollPage(
  ctx: ChangesRequest,
  version: ApiVersion,
  { after = '', limit, wait }: ChangesQuery,
  { changes }: ChangeServices,
): Promise<ChangePage> {
  const { feed, longPollSlots } = changes
  const { account } = ctx.state.principal
  const release = longPollSlots.acquire(account)
  try {
    await feed.waitForChanges(account, after, wait * 1000, beginLongPoll(ctx, changes))
    return await feed.after(version, account, after, limit)
  } finally {
    release()
  }
}

/**
 * Background work does not yield to long polls.
 * @returns aborts when the client disconnects or the response was sent
 */
function beginLongPoll({ res }: ChangesRequest, { activity }: ChangeServices['changes']): AbortSignal {
  const abortController = new AbortController()
  if (res.destroyed || res.writableEnded) abortController.abort()
  else res.once('close', () => abortController.abort())
  activity.excludeLongPoll(res)
  return abortController.signal
}

/** @throws RequestError malformed, CursorLost */
async function readFirstPage(
  feed: ChangeFeed,
  version: ApiVersion,
  account: number,
  { after, limit }: Pick<ChangesQuery, 'after' | 'limit'>,
): Promise<ChangePage> {
  if (after !== 'now') return feed.after(version, account, after, limit)
  return { changes: [], next: await feed.currentCursor(account), more: false, isCurrent: true }
}

function toPageResponse({ changes, next, more, isCurrent, ageSeconds }: ChangePage): HttpResponse {
  const suffix = JSON.stringify({ next, more }).slice(1)
  const headers = { ...(!isCurrent && ageSeconds === undefined && PENDING), ...staleHeaders(ageSeconds) }
  return ok(`{"changes":[${changes.map(({ text }) => text).join(',')}],${suffix}`, headers)
}

async function createEventStreamResponse(
  ctx: ChangesRequest,
  version: ApiVersion,
  { after }: ChangesQuery,
  services: ChangeServices,
): Promise<HttpResponse> {
  const { feed, longPollSlots } = services.changes
  const { account } = ctx.state.principal
  const release = longPollSlots.acquire(account)
  try {
    const firstPage = await readFirstPage(feed, version, account, { after, limit: CHANGES_PER_READ })
    const abortController = new AbortController()
    const body = textStream(
      streamChangeEvents({ feed, version, account, abortSignal: abortController.signal }, firstPage),
    )
    beginLongPoll(ctx, services.changes)
    const tokenCheck = setInterval(
      () => void checkToken().catch((error: Error) => body.destroy(error)),
      TOKEN_CHECK_INTERVAL_MS,
    ).unref()
    const checkToken = async () => {
      if (await isStillAuthenticated(ctx, services)) return
      abortController.abort()
      clearInterval(tokenCheck)
      setTimeout(() => body.destroy(), LINGER_MS).unref()
    }
    body.once('close', () => {
      clearInterval(tokenCheck)
      abortController.abort()
      release()
    })
    return contentResponse(200, EVENT_STREAM, body, { 'X-Accel-Buffering': 'no' })
  } catch (error) {
    release()
    throw error
  }
}
