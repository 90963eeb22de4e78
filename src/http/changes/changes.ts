import { z } from 'zod'
import type { ApiVersion } from '../../domain/diamond/field.ts'
import { Refusal } from '../../domain/decider.ts'
import {
  CursorLost,
  WHAT,
  type Change,
  type ChangeFeed,
  type ChangePage,
} from '../../projections/diamonds/change-feed.ts'
import { DIAMOND } from '../../representations/diamond/schemas.ts'
import { ALL } from '../diamonds/resource.ts'
import { answer, ok, streamed, type Answer } from '../kit/answer.ts'
import { bearer, isStillLetIn, type BearerServices, type Caller } from '../kit/authenticate.ts'
import { PENDING, staleHeaders } from '../kit/consistency.ts'
import { endpoint, type Asked, type Family } from '../kit/endpoint.ts'
import { owned } from '../kit/errors.ts'
import { limit, queryReader, whole } from '../kit/parameters/query.ts'

/** Milliseconds after which a connection without news carries a comment, so that nobody between takes it for dead. */
const QUIET = 15_000

/** Changes that are read at a time: so many are in memory for each connection. */
export const CHANGES_AT_ONCE = 50

const COMMENT = ':\n\n'

/** Whose feed, and until when. */
export type Following = {
  readonly feed: Pick<ChangeFeed, 'after' | 'changed' | 'stopped'>
  readonly version: ApiVersion
  readonly account: number
  readonly over: AbortSignal
}

/**
 * The feed as Server-Sent Events: what there is, then what comes, until it is over or the service stops.
 * @param first the page that it begins with
 */
export async function* changeEvents({ feed, version, account, over }: Following, first: ChangePage) {
  yield COMMENT
  for (let page = first; ; page = await feed.after(version, account, page.next, CHANGES_AT_ONCE)) {
    for (const change of page.changes) yield eventOf(change)
    if (!page.more) {
      await feed.changed(account, page.next, QUIET, over)
      if (page.changes.length === 0) yield COMMENT
    }
    if (over.aborted || feed.stopped) return
  }
}

const eventOf = ({ cursor, text }: Change) => `id: ${cursor}\nevent: change\ndata: ${text}\n\n`

/** Requests of one account that may wait at a time: each holds a connection. */
const PLACES = 20

/** Seconds after which one of them may have ended. */
const RETRY_AFTER = 5

/** Bounds how many requests of an account wait for changes. */
export class WaitingPlaces {
  readonly #taken = new Map<number, number>()

  /** @returns gives the place back, once @throws Refusal too-many */
  take(account: number): () => void {
    const taken = this.#taken.get(account) ?? 0
    if (taken >= PLACES) {
      throw new Refusal('too-many', `${PLACES} requests of this account wait for changes already`, RETRY_AFTER)
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
  readonly changes: { readonly feed: ChangeFeed; readonly places: WaitingPlaces }
}

/** Milliseconds between two looks whether the token of a stream is still good: it ends within ten seconds of it. */
const TOKEN_LOOK = 5_000
/** Milliseconds that a client has to take what is on its way, once the stream is over. */
const LINGER = 2_000

const CURSOR = z.string().regex(/^\d+-\d+$/)

const WHAT_CHANGED = z.enum(WHAT).meta({ id: 'WhatChanged' })

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
const feeding: Family = {
  ...owned,
  name: 'changes',
  prefixes: [],
  refusals: {
    ...owned.refusals,
    ...(owned.refusals.schema instanceof z.ZodObject && {
      schema: owned.refusals.schema.extend({
        restart: CURSOR.optional().describe('Of 410: the cursor to go on from.'),
      }),
    }),
  },
  refusal(refused, error, asked) {
    const said = owned.refusal(refused, error, asked)
    if (!(error instanceof CursorLost) || typeof said.body !== 'string') return said
    return answer(said.status, { ...(JSON.parse(said.body) as object), restart: error.restart }, said.headers)
  },
}

const QUERY = z.object({
  after: z
    .string()
    .optional()
    .describe('Where to begin: a cursor of the feed, or now. Without it, at the beginning.')
    .meta({ examples: ['0-17'] }),
  limit: limit(100).describe('Changes on a page.'),
  wait: whole(0, 60).default(0).describe('Seconds to wait until there is something.'),
})

type ChangesQuery = z.output<typeof QUERY>

const readQuery = queryReader(QUERY)

export const listChanges = endpoint({
  name: 'listChanges',
  method: 'GET',
  path: '/{version}/diamond/changes',
  about:
    "What has changed in the account's inventory since a cursor, each diamond once, in the order of their last changes.",
  who: bearer,
  parameters: ALL,
  query: QUERY,
  requestHeaders: {
    Accept: z
      .string()
      .optional()
      .describe('text/event-stream for a stream of events that goes on for as long as the token is good'),
    'Last-Event-ID': z.string().optional().describe('Of a stream: counts as after'),
  },
  family: feeding,
  answers: {
    200: {
      about: 'The changes, and where the next ones begin',
      schema: { v3: pageOf(DIAMOND.v3), v4: pageOf(DIAMOND.v4) },
    },
    400: 'The query is not readable, or the cursor is none of this feed',
    410: 'What the cursor names was lost in a restore; `restart` has the one to go on from',
    422: 'The query asks for what there can not be',
    429: 'Too many requests of this account wait already',
  },
  run(asked, services: ChangeServices) {
    const { version } = asked.params
    const query = readQuery(asked.search)
    if (asked.accepts('json', EVENTS) !== EVENTS) return answerPage(asked, version, query, services)
    const lastEvent = asked.headers['last-event-id']
    const after = typeof lastEvent === 'string' && lastEvent !== '' ? lastEvent : query.after
    return answerEvents(asked, version, { ...query, after }, services)
  },
})

const EVENTS = 'text/event-stream'

type AskedBy = Asked<Caller, undefined, unknown>

async function answerPage(
  asked: AskedBy,
  version: ApiVersion,
  query: ChangesQuery,
  services: ChangeServices,
): Promise<Answer> {
  const { feed } = services.changes
  const { account } = asked.asker
  const page = await firstPage(feed, version, account, query)
  if (page.changes.length > 0 || page.more || query.wait === 0 || asked.method === 'HEAD') return shown(page)
  return shown(await laterPage(asked, version, { ...query, after: page.next }, services))
}

/** Where nothing has come, `next` is where it was. */
async function laterPage(
  asked: AskedBy,
  version: ApiVersion,
  { after = '', limit, wait }: ChangesQuery,
  { changes: { feed, places } }: ChangeServices,
): Promise<ChangePage> {
  const { account } = asked.asker
  const giveBack = places.take(account)
  try {
    await feed.changed(account, after, wait * 1000, asked.waits())
    return await feed.after(version, account, after, limit)
  } finally {
    giveBack()
  }
}

/** @throws Refusal malformed, CursorLost */
async function firstPage(
  feed: ChangeFeed,
  version: ApiVersion,
  account: number,
  { after, limit }: Pick<ChangesQuery, 'after' | 'limit'>,
): Promise<ChangePage> {
  if (after !== 'now') return feed.after(version, account, after, limit)
  return { changes: [], next: await feed.now(account), more: false, current: true }
}

function shown({ changes, next, more, current, age }: ChangePage): Answer {
  const rest = JSON.stringify({ next, more }).slice(1)
  const headers = { ...(!current && age === undefined && PENDING), ...staleHeaders(age) }
  return ok(`{"changes":[${changes.map(({ text }) => text).join(',')}],${rest}`, headers)
}

async function answerEvents(
  asked: AskedBy,
  version: ApiVersion,
  { after }: ChangesQuery,
  services: ChangeServices,
): Promise<Answer> {
  const { feed, places } = services.changes
  const { account } = asked.asker
  const giveBack = places.take(account)
  try {
    const first = await firstPage(feed, version, account, { after, limit: CHANGES_AT_ONCE })
    const over = new AbortController()
    const stream = streamed('text/event-stream', changeEvents({ feed, version, account, over: over.signal }, first), {
      'X-Accel-Buffering': 'no',
    })
    asked.waits()
    const looking = setInterval(
      () => void look().catch((error: Error) => stream.body.destroy(error)),
      TOKEN_LOOK,
    ).unref()
    const look = async () => {
      if (await isStillLetIn(asked, services)) return
      over.abort()
      clearInterval(looking)
      setTimeout(() => stream.body.destroy(), LINGER).unref()
    }
    stream.body.once('close', () => {
      clearInterval(looking)
      over.abort()
      giveBack()
    })
    return stream
  } catch (error) {
    giveBack()
    throw error
  }
}
