import { z } from 'zod'
import { declareEvents, TIME, type EventOf, type SchemaOutput } from '../event.ts'
import type { Fold } from '../fold.ts'
import { RequestError } from '../request-error.ts'

const id = z.string().describe('id, as in the URL')

const texts = z.array(z.union([z.string(), z.number()]))

const filters = z
  .record(z.string(), z.union([z.string(), z.number(), z.boolean(), texts]))
  .describe('filters of the stones, as they were sent')

/** A feed is a file with an account's current stones, at an address that needs no log-in. All feeds of an account are in one stream. */
export const feedEvents = declareEvents('feeds-{account}', {
  FeedCreated: {
    about: 'A feed was created: its address gives a file with the current stones of the account.',
    payload: z.object({
      id,
      name: z.string().describe('human-readable'),
      format: z.string().describe('format of the file, such as csv'),
      filters,
      at: TIME,
    }),
  },
  FeedDeleted: { about: 'The feed was deleted: its address gives nothing any more.', payload: z.object({ id }) },
})
export type FeedEvent = EventOf<typeof feedEvents>

/** Filters by name, as they were sent: `{"caratFrom": 1, "cutShape": ["Pear"]}`. */
export type FeedFilters = SchemaOutput<typeof filters>

/** `at`: when it was created, milliseconds since 1970. */
export type Feed = EventOf<typeof feedEvents, 'FeedCreated'>['data']

/** An account's feeds, oldest first. */
export type Feeds = readonly Feed[]

export const feedsStream = (account: number) => `feeds-${account}`

export const MAX_FEEDS = 10

export const feedsFold: Fold<Feeds, FeedEvent> = {
  initialState: [],
  evolve: (feeds, event) =>
    event.type === 'FeedCreated' ? [...feeds, event.data] : feeds.filter((one) => one.id !== event.data.id),
}

/** @throws RequestError invalid if the account already has the maximum number */
export function createFeed(feeds: Feeds, feed: Omit<Feed, 'at'>, now: number): FeedEvent[] {
  if (feeds.length >= MAX_FEEDS)
    throw new RequestError('invalid', `An account has at most ${MAX_FEEDS} feeds; delete one that is not needed`)
  return [{ type: 'FeedCreated', data: { ...feed, at: now } }]
}

/** @throws RequestError missing */
export const deleteFeed = (feeds: Feeds, id: string): FeedEvent[] => [
  { type: 'FeedDeleted', data: { id: requireFeed(feeds, id).id } },
]

/** @throws RequestError missing */
export function requireFeed(feeds: Feeds, id: string): Feed {
  const feed = feeds.find((one) => one.id === id)
  if (feed === undefined) throw new RequestError('missing', `There is no feed ${id.slice(0, 40)}`)
  return feed
}
