import type { AccountDirectory } from '../../commands/accounts/account-directory.ts'
import { z, type ZodType } from 'zod'
import type { CommandPrincipal, DiamondCommandContext } from '../../commands/diamonds/diamonds.ts'
import { RequestError } from '../../domain/request-error.ts'
import type { DiamondQueries } from '../../projections/diamonds/diamond-queries.ts'
import { eventOriginOf, type BearerPrincipal } from '../kit/authenticate.ts'
import { BULK_BODY_MAX_BYTES, json } from '../kit/json-body.ts'
import type { EndpointContext, RequestBody } from '../kit/endpoint.ts'
import { bulkSchema } from './bulk-entries.ts'
import { integerPathParameter, requireId } from '../kit/path-parameters.ts'
import type { SignedLinks } from '../kit/signed-links.ts'

export type DiamondServices = {
  readonly diamonds: {
    readonly context: DiamondCommandContext
    readonly queries: DiamondQueries
    readonly links: SignedLinks
    /** Account and client names for the history. */
    readonly people: Pick<AccountDirectory, 'displayNameOf'>
  }
}

/** Both versions have the same endpoints and rules; only the representation differs. */
const VERSION = z
  .enum(['v3', 'v4'])
  .describe('The API version.')
  .meta({ examples: ['v4'] })

export const DIAMOND_ID = integerPathParameter('The id of a diamond.')

export const DIAMOND_PARAMETERS = { version: VERSION, id: DIAMOND_ID } as const
export const VERSION_PARAMETERS = { version: VERSION } as const

/** @throws RequestError missing if the path parameter is not a diamond id */
export const parseDiamondId = ({ id }: { readonly id: string }): number => requireId('diamond', id)

export const actorOf = (ctx: Pick<EndpointContext<BearerPrincipal>, 'state'>): CommandPrincipal => ({
  owner: ctx.state.principal.account,
  origin: eventOriginOf(ctx),
})

type SchemaByVersion = { readonly v3: ZodType; readonly v4: ZodType }

export const listOf = ({ v3, v4 }: SchemaByVersion): SchemaByVersion => ({ v3: z.array(v3), v4: z.array(v4) })

/** The body of a bulk request. Rejects If-Match, because an ETag refers to a single diamond. */
export function bulkJson({ v3, v4 }: SchemaByVersion): RequestBody<unknown> {
  const body = json({ v3: bulkSchema(v3), v4: bulkSchema(v4) }, BULK_BODY_MAX_BYTES)
  return {
    ...body,
    read(ctx, service) {
      if (ctx.headers['if-match'] === undefined) return body.read(ctx, service)
      throw new RequestError(
        'malformed',
        'If-Match is not supported for bulk requests; change the diamond with a single request',
      )
    },
  }
}

/** Error responses of endpoints with a diamond id in the path. */
export const DIAMOND_ERROR_RESPONSES = {
  403: 'The diamond belongs to another account',
  404: 'No such diamond',
} as const

export const IF_MATCH = {
  'If-Match': z
    .string()
    .optional()
    .describe("One or more ETags, one of which must match the diamond's revision; or `*`"),
} as const
