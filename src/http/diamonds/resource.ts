import type { AccountDirectory } from '../../commands/accounts/account-directory.ts'
import { z, type ZodType } from 'zod'
import type { CommandPrincipal, DiamondCommandContext } from '../../commands/diamonds/diamonds.ts'
import { RequestError } from '../../domain/decider.ts'
import type { DiamondQueries } from '../../projections/diamonds/diamond-queries.ts'
import { eventOriginOf, type BearerPrincipal } from '../kit/authenticate.ts'
import { BULK_BODY_MAX_BYTES, json } from '../kit/json-body.ts'
import type { HttpRequest, RequestBody } from '../kit/endpoint.ts'
import { bulkSchema } from './bulk-entries.ts'
import { integerPathParameter } from '../kit/path-parameters.ts'
import type { SignedLinks } from '../kit/signed-links.ts'

/** What the Diamond API answers from. */
export type DiamondServices = {
  readonly diamonds: {
    readonly inventory: DiamondCommandContext
    readonly queries: DiamondQueries
    readonly links: SignedLinks
    /** Who did what stands in a history. */
    readonly people: Pick<AccountDirectory, 'displayNameOf'>
  }
}

/** The Diamond API exists twice: the same methods and rules, another object. */
const VERSION = z
  .enum(['v3', 'v4'])
  .describe('The version of the diamonds in the answer.')
  .meta({ examples: ['v4'] })

export const DIAMOND_ID = integerPathParameter('The id of a diamond.')

export const DIAMOND_PARAMETERS = { version: VERSION, id: DIAMOND_ID } as const
export const VERSION_PARAMETERS = { version: VERSION } as const

/** @throws Refusal missing for what is no diamond's id */
export function parseDiamondId({ id: text }: { readonly id: string }): number {
  const id = Number(text)
  if (/^[1-9]\d*$/.test(text) && id <= Number.MAX_SAFE_INTEGER) return id
  throw new RequestError('missing', `There is no diamond ${text.slice(0, 40)}`)
}

/** In whose name something is changed. */
export const actorOf = (request: Pick<HttpRequest<BearerPrincipal>, 'principal' | 'requestId'>): CommandPrincipal => ({
  owner: request.principal.account,
  origin: eventOriginOf(request),
})

type SchemaByVersion = { readonly v3: ZodType; readonly v4: ZodType }

export const listOf = ({ v3, v4 }: SchemaByVersion): SchemaByVersion => ({ v3: z.array(v3), v4: z.array(v4) })

/** The body of a request about many: a tag is one diamond's, it would hold for none of them, or be overlooked. */
export function bulkJson({ v3, v4 }: SchemaByVersion): RequestBody<unknown> {
  const body = json({ v3: bulkSchema(v3), v4: bulkSchema(v4) }, BULK_BODY_MAX_BYTES)
  return {
    ...body,
    read(ctx, request, service) {
      if (request.headers['if-match'] === undefined) return body.read(ctx, request, service)
      throw new RequestError(
        'malformed',
        'If-Match names one diamond; a bulk request has many: change that one by itself',
      )
    },
  }
}

/** What may be refused of a diamond that is named in the path. */
export const DIAMOND_ERROR_RESPONSES = { 403: "It is another account's", 404: 'There is no such diamond' } as const

export const IF_MATCH = {
  'If-Match': z.string().optional().describe("ETags, one of which must be the diamond's; or *"),
} as const
