import type { People } from '../../commands/accounts/people.ts'
import { z, type ZodType } from 'zod'
import type { By, Inventory } from '../../commands/diamonds/diamonds.ts'
import { Refusal } from '../../domain/decider.ts'
import type { DiamondQueries } from '../../projections/diamonds/diamond-queries.ts'
import { originOf, type Caller } from '../kit/authenticate.ts'
import { BULK_BODY, json } from '../kit/json-body.ts'
import type { Asked, Body } from '../kit/endpoint.ts'
import { bulkOf } from './entries.ts'
import { numberInPath } from '../kit/paths.ts'
import type { Links } from '../kit/links.ts'

/** What the Diamond API answers from. */
export type DiamondServices = {
  readonly diamonds: {
    readonly inventory: Inventory
    readonly queries: DiamondQueries
    readonly links: Links
    /** Who did what stands in a history. */
    readonly people: Pick<People, 'shownAs'>
  }
}

/** The Diamond API exists twice: the same methods and rules, another object. */
const VERSION = z
  .enum(['v3', 'v4'])
  .describe('The version of the diamonds in the answer.')
  .meta({ examples: ['v4'] })

export const DIAMOND_ID = numberInPath('The id of a diamond.')

export const ONE = { version: VERSION, id: DIAMOND_ID } as const
export const ALL = { version: VERSION } as const

/** @throws Refusal missing for what is no diamond's id */
export function idOf({ id: text }: { readonly id: string }): number {
  const id = Number(text)
  if (/^[1-9]\d*$/.test(text) && id <= Number.MAX_SAFE_INTEGER) return id
  throw new Refusal('missing', `There is no diamond ${text.slice(0, 40)}`)
}

/** In whose name something is changed. */
export const byOf = (asked: Pick<Asked<Caller>, 'asker' | 'requestId'>): By => ({
  owner: asked.asker.account,
  origin: originOf(asked),
})

type ByVersion = { readonly v3: ZodType; readonly v4: ZodType }

export const listOf = ({ v3, v4 }: ByVersion): ByVersion => ({ v3: z.array(v3), v4: z.array(v4) })

/** The body of a request about many: a tag is one diamond's, it would hold for none of them, or be overlooked. */
export function bulkJson({ v3, v4 }: ByVersion): Body<unknown> {
  const body = json({ v3: bulkOf(v3), v4: bulkOf(v4) }, BULK_BODY)
  return {
    ...body,
    read(ctx, asked, service) {
      if (asked.headers['if-match'] === undefined) return body.read(ctx, asked, service)
      throw new Refusal('malformed', 'If-Match names one diamond; a bulk request has many: change that one by itself')
    },
  }
}

/** What may be refused of a diamond that is named in the path. */
export const REFUSED_ONE = { 403: "It is another account's", 404: 'There is no such diamond' } as const

export const IF_MATCH = {
  'If-Match': z.string().optional().describe("ETags, one of which must be the diamond's; or *"),
} as const
