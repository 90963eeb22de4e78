import { z } from 'zod'
import type { Feed } from '../../domain/feed/feed.ts'
import { formatTime, LINK_LIFETIMES } from '../../representations/json.ts'
import { objectSchema, parseInput, requireValid, textSchema } from '../../representations/parse.ts'
import type { ChangeServices } from '../changes/changes.ts'
import { filterOfJson, JSON_FILTERS_SCHEMA } from '../diamonds/json-filters.ts'
import { EXPORT_FORMAT, EXPORT_FORMAT_TEXT, type ExportRequest, type ExportServices } from '../exports/exports.ts'
import type { AccountSlots } from '../kit/account-slots.ts'
import type { SignedLinks } from '../kit/signed-links.ts'

export type FeedServices = ExportServices &
  ChangeServices & {
    readonly feeds: {
      /** Reads of an account's feeds at a time. */
      readonly slots: AccountSlots
    }
  }

const MAX_NAME_LENGTH = 100

const NEW_FEED_MEMBERS = {
  name: textSchema(MAX_NAME_LENGTH, `a text of 1 to ${MAX_NAME_LENGTH} characters without control characters`).describe(
    'For its owner, such as the name of the partner',
  ),
  format: EXPORT_FORMAT.default('csv').describe(EXPORT_FORMAT_TEXT),
  filters: JSON_FILTERS_SCHEMA.default({}).describe("The filters of v4's list; all stones if there are none"),
}

export const NEW_FEED = objectSchema(NEW_FEED_MEMBERS, 'a feed', '{"name": "Partner", "format": "rapnet"}')

/** Of its objects: those of `filters` are also found without it. */
const MEMBERS = [
  ...Object.keys(NEW_FEED_MEMBERS),
  ...Object.keys(JSON_FILTERS_SCHEMA.shape).map((name) => `filters.${name}`),
]

/** @throws RequestError invalid, with all errors */
export const parseFeed = (body: unknown): Pick<Feed, 'name' | 'format' | 'filters'> =>
  requireValid(parseInput(NEW_FEED, body, { name: 'a feed', members: MEMBERS }))

export const FEED = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    format: EXPORT_FORMAT,
    filters: JSON_FILTERS_SCHEMA.describe('As they were sent'),
    url: z.string().describe('The address of the file. It needs no access token, so only the recipient should know it'),
    created: z.string().describe('ISO 8601, such as 2026-11-22T13:00:00+00:00'),
  })
  .meta({ id: 'Feed' })

export const FEED_PARAMETERS = { id: z.string().describe('The id of a feed.') } as const

export const pathOfFeed = (id: string) => `/feed/${id}`

/** The address of a feed. Its signature names the account, in whose stream the feed is found. */
export const feedUrl = (id: string, account: number, links: SignedLinks): string =>
  links.signed(pathOfFeed(id), LINK_LIFETIMES.untilAccessChanges, account)

/** The format and the filter of a feed's file. */
export const exportOf = ({ format, filters }: Feed): ExportRequest => ({
  format: EXPORT_FORMAT.parse(format),
  filter: filterOfJson(filters),
})

export const toFeedBody = ({ id, name, format, filters, at }: Feed, account: number, links: SignedLinks) => ({
  id,
  name,
  format,
  filters,
  url: feedUrl(id, account, links),
  created: formatTime(at),
})
