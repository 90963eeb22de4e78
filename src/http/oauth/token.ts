import { z } from 'zod'
import { openSession, refreshSession } from '../../commands/sessions/sessions.ts'
import { ok } from '../kit/response.ts'
import { endpoint, type RequestBody } from '../kit/endpoint.ts'
import { eventOriginFor } from '../kit/authenticate.ts'
import {
  oauthClient,
  NO_STORE_HEADERS,
  oauthGroup,
  OAuthError,
  withClient,
  type TokenServices,
} from './client-authentication.ts'

export const GRANT_TYPES = ['password', 'refresh_token'] as const
/** For the API reference. The schema accepts other values too, so that they get `unsupported_grant_type` (RFC 6749). */
export const GRANT_TYPE = z.string().meta({ id: 'GrantType', enum: GRANT_TYPES })

const text = z.string().optional()

const Grant = withClient({
  grant_type: GRANT_TYPE.optional()
    .describe('`password` starts a session, `refresh_token` continues one.')
    .meta({ examples: ['password'] }),
  username: text.describe("With `password`: the account's e-mail address.").meta({ examples: ['ann@example.com'] }),
  password: text.describe('With `password`: the password of the account.').meta({ examples: ['correct horse'] }),
  refresh_token: text.describe('With `refresh_token`: the refresh token of the last response. It can be used once.'),
  scope: text.describe('`user`, the only scope.').meta({ examples: ['user'] }),
})

type GrantRequest = z.output<typeof Grant.schema>

const Tokens = z
  .object({
    access_token: z.string().describe('Send it as `Authorization: Bearer ...` with requests to the platform APIs.'),
    expires_in: z.int().describe('Lifetime of the access token in seconds.'),
    token_type: z.literal('bearer'),
    scope: z.literal('user'),
    refresh_token: z.string().describe('Can be used once, within 14 days unless configured otherwise.'),
  })
  .meta({ id: 'Tokens' })

export const issueToken = endpoint({
  operationId: 'issueToken',
  method: 'POST',
  path: '/api/oauth/v2/token',
  summary:
    'Issue an access token for a password or a refresh token. Reusing a refresh token ends its session with all tokens, ' +
    'since it may have been stolen; within 10 s of its first use, it is only rejected.',
  auth: oauthClient,
  body: withGrantTypeCheck(Grant),
  group: oauthGroup,
  headers: NO_STORE_HEADERS,
  responses: {
    200: {
      description: 'The tokens of the session.',
      schema: Tokens,
      example: {
        access_token: 'v1.5d41402abc4b2a76.WzEsMCwi...',
        expires_in: 604_800,
        token_type: 'bearer',
        scope: 'user',
        refresh_token: '0f1e2d3c4b5a69788796a5b4c3d2e1f0...',
      },
    },
    400: '`invalid_grant`: wrong user, password or refresh token. `unsupported_grant_type`, `invalid_scope`.',
    429: 'Too many wrong passwords for this account or from this address.',
  },
  async handler(ctx, { sessions }: TokenServices) {
    const { body } = ctx.request
    const { principal } = ctx.state
    if ((body.scope ?? 'user') !== 'user') throw new OAuthError('invalid_scope', 'An unsupported scope was requested.')
    const origin = eventOriginFor(undefined, ctx.state)
    const tokens =
      body.grant_type === 'password'
        ? await openSession(sessions, { ...logInOf(body), address: ctx.ip, client: principal }, origin)
        : await refreshSession(sessions, { token: refreshTokenIn(body), client: principal }, origin)
    return ok({
      access_token: tokens.accessToken,
      expires_in: tokens.expiresIn,
      token_type: 'bearer',
      scope: 'user',
      refresh_token: tokens.refreshToken,
    })
  },
})

/** Checks the grant type before the client authenticates (RFC 6749, sections 4.3 and 6). */
function withGrantTypeCheck(form: typeof Grant): RequestBody<GrantRequest> {
  return {
    ...form,
    async read(ctx) {
      const grant = await form.read(ctx)
      const message = 'Invalid grant_type parameter or parameter missing'
      if (grant.grant_type === undefined) throw new OAuthError('invalid_request', message)
      if (GRANT_TYPES.some((known) => known === grant.grant_type)) return grant
      throw new OAuthError('unsupported_grant_type', message)
    },
  }
}

function logInOf({ username, password }: GrantRequest) {
  if (username !== undefined && password !== undefined) return { username, password }
  throw new OAuthError('invalid_request', 'Missing parameters. "username" and "password" required')
}

function refreshTokenIn({ refresh_token: token }: GrantRequest): string {
  if (token === undefined) throw new OAuthError('invalid_request', 'No "refresh_token" parameter found')
  return token
}
