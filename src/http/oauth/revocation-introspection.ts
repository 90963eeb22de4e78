import { z } from 'zod'
import { inspectToken, revokeToken as revoke } from '../../commands/sessions/token-introspection.ts'
import { ok } from '../kit/response.ts'
import { endpoint } from '../kit/endpoint.ts'
import { eventOriginFor } from '../kit/authenticate.ts'
import {
  oauthClient,
  NO_STORE_HEADERS,
  oauthGroup,
  OAuthError,
  withClient,
  type TokenServices,
} from './client-authentication.ts'

const TokenParameters = withClient({
  token: z
    .string()
    .optional()
    .describe('An access token or a refresh token.')
    .meta({ examples: ['v1.5d41402abc4b2a76.WzEsMCwi...'] }),
  token_type_hint: z
    .string()
    .optional()
    .describe('Accepted but not needed: the type of a token follows from its format.'),
})

export const revokeToken = endpoint({
  operationId: 'revokeToken',
  method: 'POST',
  path: '/api/oauth/v2/revoke',
  summary:
    'Revoke a token (RFC 7009). Revoking a refresh token ends its session with all access tokens; revoking an access ' +
    'token ends only that token.',
  auth: oauthClient,
  body: TokenParameters,
  group: oauthGroup,
  headers: NO_STORE_HEADERS,
  responses: {
    200: { description: 'The token is not valid, or no longer.', schema: z.object({}), example: {} },
    400: '`invalid_grant`: the token was issued to another client.',
  },
  async handler(ctx, { sessions }: TokenServices) {
    const { client } = ctx.state.principal
    const origin = { ...eventOriginFor(undefined, ctx.state), actor: `client-${client}` }
    await revoke(sessions, { token: tokenIn(ctx.request.body), client }, origin)
    // The RFC does not specify a body. Some clients parse every response as JSON.
    return ok({})
  },
})

const IntrospectionSchema = z.object({
  active: z
    .boolean()
    .describe("False for an invalid token and for another client's token; all other members are absent then."),
  scope: z.literal('user').optional(),
  client_id: z.string().optional(),
  username: z.string().optional().describe("The account's e-mail address."),
  token_type: z.literal('bearer').optional().describe('Present for an access token.'),
  exp: z.int().optional().describe('Expiry, in seconds since 1970.'),
  iat: z.int().optional().describe('Time of issue, in seconds since 1970.'),
  sub: z.string().optional().describe('The account id.'),
})

export const introspectToken = endpoint({
  operationId: 'introspectToken',
  method: 'POST',
  path: '/api/oauth/v2/introspect',
  summary: 'Introspect a token of the same client (RFC 7662)',
  auth: oauthClient,
  body: TokenParameters,
  group: oauthGroup,
  headers: NO_STORE_HEADERS,
  responses: {
    200: {
      description: 'The state of the token.',
      schema: IntrospectionSchema,
      example: {
        active: true,
        scope: 'user',
        client_id: '1_3bcbxd9e24g0gk4swg0kwgcwo',
        username: 'ann@example.com',
        token_type: 'bearer',
        exp: 1_800_604_800,
        iat: 1_800_000_000,
        sub: '1',
      },
    },
  },
  async handler(ctx, { sessions }: TokenServices) {
    const { client } = ctx.state.principal
    const inspected = await inspectToken(sessions, { token: tokenIn(ctx.request.body), client })
    if (inspected === undefined) return ok({ active: false })
    return ok({
      active: true,
      scope: 'user',
      client_id: client,
      username: inspected.email,
      ...(inspected.kind === 'access' && { token_type: 'bearer' }),
      exp: Math.floor(inspected.expiresAt / 1000),
      iat: Math.floor(inspected.issuedAt / 1000),
      sub: String(inspected.account),
    })
  },
})

/** @throws OAuthError invalid_request */
function tokenIn({ token }: z.output<typeof TokenParameters.schema>): string {
  if (token === undefined) throw new OAuthError('invalid_request', 'No "token" parameter found')
  return token
}
