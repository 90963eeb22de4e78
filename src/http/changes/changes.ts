import { z } from 'zod'
import type { ApiVersion } from '../../domain/diamond/field.ts'
import { RequestError } from '../../domain/decider.ts'
import {
  CursorLost,
  CHANGE_KINDS,
  type FeedChange,
  type ChangeFeed,
  type ChangePage,
} from '../../projections/diamonds/change-feed.ts'
import { DIAMOND } from '../../representations/diamond/schemas.ts'
import { VERSION_PARAMETERS } from '../diamonds/resource.ts'
import { createResponse, ok, streamResponse, type HttpResponse } from '../kit/response.ts'
import { bearer, isStillAuthenticated, type BearerServices, type BearerPrincipal } from '../kit/authenticate.ts'
import { PENDING, staleHeaders } from '../kit/consistency.ts'
import { endpoint, type HttpRequest, type EndpointGroup } from '../kit/endpoint.ts'
import { accountGroup } from '../kit/errors.ts'
import { limit, queryReader, wholeNumber } from '../kit/parameters/query.ts'

/** Milliseconds after which a connection without news carries a comment, so that nobody between takes it for dead. */
const KEEP_ALIVE_INTERVAL_MS = 15_000

/** Changes that are read at a time: so many are in memory for each connection. */
export const CHANGES_PER_READ = 50

const COMMENT = ':\n\n'

/** Whose feed, and until when. */
export type ChangeStreamOptions = {
  readonly feed: Pick<ChangeFeed, 'after' | 'waitForChanges' | 'isStopped'>
  readonly version: ApiVersion
  readonly account: number
  readonly abortSignal: AbortSignal
}

/**
 * The feed as Server-Sent Events: what there is, then what comes, until it is over or the service stops.
 * @param first the page that it begins with
 */
export async function* streamChangeEvents(
  { feed, version, account, abortSignal }: ChangeStreamOptions,
  first: ChangePage,
) {
  yield COMMENT
  for (let page = first; ; page = await feed.after(version, account, page.next, CHANGES_PER_READ)) {
    for (const change of page.changes) yield eventOf(change)
    if (!page.more) {
      await feed.waitForChanges(account, page.next, KEEP_ALIVE_INTERVAL_MS, abortSignal)
      if (page.changes.length === 0) yield COMMENT
    }
    if (abortSignal.aborted || feed.isStopped) return
  }
}

const eventOf = ({ cursor, text }: FeedChange) => `id: ${cursor}\nevent: change\ndata: ${text}\n\n`

/** Requests of one account that may wait at a time: each holds a connection. */
const MAX_WAITING_REQUESTS = 20

/** Seconds after which one of them may have ended. */
const RETRY_AFTER = 5

/** Bounds how many requests of an account wait for changes. */
export class LongPollLimiter {
  readonly #taken = new Map<number, number>()

  /** @returns gives the place back, once @throws Refusal too-many */
  acquire(account: number): () => void {
    const taken = this.#taken.get(account) ?? 0
    if (taken >= MAX_WAITING_REQUESTS) {
      throw new RequestError(
        'too-many',
        `${MAX_WAITING_REQUESTS} requests of this account wait for changes already`,
        RETRY_AFTER,
      )
    }
    this.#taken.set(account, taken + 1)
    let isTaken = true
    return () => {
      if (!isTaken) return
      isTaken = false
      const left = (this.#taken.get(account) ?? 1) - 1
      if (left === 0) this.#taken.delete(account)
      else this.#taken.set(account, left)
    }
  }
}

/** What the feed of changes answers from. */
export type ChangeServices = BearerServices & {
  readonly changes: { readonly feed: ChangeFeed; readonly longPollLimiter: LongPollLimiter }
}

/** Milliseconds between two looks whether the token of a stream is still good: it ends within ten seconds of it. */
const TOKEN_CHECK_INTERVAL_MS = 5_000
/** Milliseconds that a client has to take what is on its way, once the stream is over. */
const LINGER = 2_000

const CURSOR = z.string().regex(/^\d+-\d+$/)

const WHAT_CHANGED = z.enum(CHANGE_KINDS).meta({ id: 'WhatChanged' })

const changeOf = (diamond: z.ZodType) =>
  z.object({
    cursor: CURSOR.describe('Where the feed goes on behind this change.'),
    id: z.int(),
    sku: z.string(),
    what: z.array(WHAT_CHANGED).min(1).describe('What happened to it since `after`; deleted stands alone.'),
    diamond: diamond.nullable().describe('As it is now; null where it was deleted.'),
  })

const pageOf = (diamond: z.ZodType) =>
  z.object({
    changes: z.array(changeOf(diamond)),
    next: CURSOR.describe('The next `after`.'),
    more: z.boolean().describe('Whether there is more already.'),
  })

/** As the others; where a cursor was lost, with the one that is good instead. */
const changeFeedGroup: EndpointGroup = {
  ...accountGroup,
  name: 'changes',
  pathPrefixes: [],
  errorFormat: {
    ...accountGroup.errorFormat,
    ...(accountGroup.errorFormat.schema instanceof z.ZodObject && {
      schema: accountGroup.errorFormat.schema.extend({
        restart: CURSOR.optional().describe('Of 410: the cursor to go on from.'),
      }),
    }),
  },
  errorResponse(details, error, request) {
    const response = accountGroup.errorResponse(details, error, request)
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
    .describe('Where to begin: a cursor of the feed, or now. Without it, at the beginning.')
    .meta({ examples: ['0-17'] }),
  limit: limit(100).describe('Changes on a page.'),
  wait: wholeNumber(0, 60).default(0).describe('Seconds to wait until there is something.'),
})

type ChangesQuery = z.output<typeof QUERY>

const readQuery = queryReader(QUERY)

export const listChanges = endpoint({
  operationId: 'listChanges',
  method: 'GET',
  path: '/{version}/diamond/changes',
  summary:
    "What has changed in the account's inventory since a cursor, each diamond once, in the order of their last changes.",
  auth: bearer,
  pathParameters: VERSION_PARAMETERS,
  query: QUERY,
  requestHeaders: {
    Accept: z
      .string()
      .optional()
      .describe('text/event-stream for a stream of events that goes on for as long as the token is good'),
    'Last-Event-ID': z.string().optional().describe('Of a stream: counts as after'),
  },
  group: changeFeedGroup,
  responses: {
    200: {
      description: 'The changes, and where the next ones begin',
      schema: { v3: pageOf(DIAMOND.v3), v4: pageOf(DIAMOND.v4) },
    },
    400: 'The query is not readable, or the cursor is none of this feed',
    410: 'What the cursor names was lost in a restore; `restart` has the one to go on from',
    422: 'The query asks for what there can not be',
    429: 'Too many requests of this account wait already',
  },
  handler(request, services: ChangeServices) {
    const { version } = request.params
    const query = readQuery(request.search)
    if (request.accepts('json', EVENT_STREAM) !== EVENT_STREAM)
      return createPageResponse(request, version, query, services)
    const lastEvent = request.headers['last-event-id']
    const after = typeof lastEvent === 'string' && lastEvent !== '' ? lastEvent : query.after
    return createEventStreamResponse(request, version, { ...query, after }, services)
  },
})

const EVENT_STREAM = 'text/event-stream'

type ChangesRequest = HttpRequest<BearerPrincipal, undefined, unknown>

async function createPageResponse(
  request: ChangesRequest,
  version: ApiVersion,
  query: ChangesQuery,
  services: ChangeServices,
): Promise<HttpResponse> {
  const { feed } = services.changes
  const { account } = request.principal
  const page = await readFirstPage(feed, version, account, query)
  if (page.changes.length > 0 || page.more || query.wait === 0 || request.method === 'HEAD') return toPageResponse(page)
  return toPageResponse(await pollPage(request, version, { ...query, after: page.next }, services))
}

/** Where nothing has come, `next` is where it was. */
async function pollPage(
  request: ChangesRequest,
  version: ApiVersion,
  { after = '', limit, wait }: ChangesQuery,
  { changes: { feed, longPollLimiter } }: ChangeServices,
): Promise<ChangePage> {
  const { account } = request.principal
  const release = longPollLimiter.acquire(account)
  try {
    await feed.waitForChanges(account, after, wait * 1000, request.beginLongPoll())
    return await feed.after(version, account, after, limit)
  } finally {
    release()
  }
}

/** @throws Refusal malformed, CursorLost */
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
  const rest = JSON.stringify({ next, more }).slice(1)
  const headers = { ...(!isCurrent && ageSeconds === undefined && PENDING), ...staleHeaders(ageSeconds) }
  return ok(`{"changes":[${changes.map(({ text }) => text).join(',')}],${rest}`, headers)
}

async function createEventStreamResponse(
  request: ChangesRequest,
  version: ApiVersion,
  { after }: ChangesQuery,
  services: ChangeServices,
): Promise<HttpResponse> {
  const { feed, longPollLimiter } = services.changes
  const { account } = request.principal
  const release = longPollLimiter.acquire(account)
  try {
    const first = await readFirstPage(feed, version, account, { after, limit: CHANGES_PER_READ })
    const closed = new AbortController()
    const stream = streamResponse(
      'text/event-stream',
      streamChangeEvents({ feed, version, account, abortSignal: closed.signal }, first),
      {
        'X-Accel-Buffering': 'no',
      },
    )
    request.beginLongPoll()
    const tokenCheck = setInterval(
      () => void checkToken().catch((error: Error) => stream.body.destroy(error)),
      TOKEN_CHECK_INTERVAL_MS,
    ).unref()
    const checkToken = async () => {
      if (await isStillAuthenticated(request, services)) return
      closed.abort()
      clearInterval(tokenCheck)
      setTimeout(() => stream.body.destroy(), LINGER).unref()
    }
    stream.body.once('close', () => {
      clearInterval(tokenCheck)
      closed.abort()
      release()
    })
    return stream
  } catch (error) {
    release()
    throw error
  }
}
