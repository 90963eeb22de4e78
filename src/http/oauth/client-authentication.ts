import { z } from 'zod'
import { ClientRefused, verifyClient, type VerifiedClient } from '../../commands/clients/clients.ts'
import type { TokenIntrospectionContext } from '../../commands/sessions/token-introspection.ts'
import type { LogInContext } from '../../commands/sessions/sessions.ts'
import { RequestError, type RequestErrorKind } from '../../domain/decider.ts'
import { InvalidGrant } from '../../domain/session/session.ts'
import { createResponse } from '../kit/response.ts'
import { parseBasicCredentials, isBasicAuthorization } from '../kit/authenticate.ts'
import type { EndpointGroup, Authenticator } from '../kit/endpoint.ts'
import { ErrorWithHeaders } from '../kit/errors.ts'
import { defineParameters } from '../kit/parameters/parameters.ts'

/** RFC 6749, section 5.2. Wrong grants and clients have their own classes, in the domain and the commands. */
export type OAuthErrorCode = 'invalid_request' | 'unsupported_grant_type' | 'invalid_scope'

export class OAuthError extends RequestError {
  constructor(
    readonly code: OAuthErrorCode,
    message: string,
  ) {
    super('malformed', message)
  }
}

/** RFC 6749, section 5.1; errors as well. */
export const NO_STORE_HEADERS = { 'Cache-Control': 'no-store', Pragma: 'no-cache' }

/** The faults that keep their status here; every other fault of the caller is 400. */
const STATUS_PRESERVING_KINDS: ReadonlySet<RequestErrorKind> = new Set([
  'unauthenticated',
  'missing',
  'not-allowed',
  'too-many',
  'unavailable',
])

const TokenError = z
  .object({
    error: z.string().describe('A code of RFC 6749, section 5.2, such as `invalid_grant`.'),
    error_description: z.string(),
  })
  .meta({ id: 'TokenError' })

/** `{"error": "invalid_grant", "error_description": "..."}` */
export const oauthGroup: EndpointGroup = {
  name: 'oauth',
  pathPrefixes: ['/api/oauth'],
  errorFormat: { mediaType: 'application/json', schema: TokenError },
  errorResponse({ status, faults }, error) {
    const body = {
      error: codeOf(error, status),
      error_description: sanitizeDescription(faults.map(({ message }) => message).join('; ')),
    }
    const isKept = !(error instanceof RequestError) || STATUS_PRESERVING_KINDS.has(error.kind)
    return createResponse(isKept ? status : 400, body, NO_STORE_HEADERS)
  },
}

function codeOf(error: unknown, status: number): string {
  if (error instanceof OAuthError) return error.code
  if (error instanceof InvalidGrant) return 'invalid_grant'
  if (error instanceof ClientRefused) return 'invalid_client'
  if (status === 429 || status === 503) return 'temporarily_unavailable'
  return status >= 500 ? 'server_error' : 'invalid_request'
}

/** Only the characters that RFC 6749, section 5.2, has for a description. */
const sanitizeDescription = (text: string) => text.replace(/["\\]/g, "'").replace(/[^\x20-\x7e]/g, '?')

/** What the token server answers from. */
export type TokenServices = {
  readonly sessions: LogInContext & TokenIntrospectionContext
}

/** Bytes of a form; the longest that makes sense has a few tokens in it. */
const FORM_LIMIT = 64 * 1024

/** One way for a client to show its id and secret; the other is HTTP Basic. */
const CLIENT = {
  client_id: z
    .string()
    .optional()
    .describe('Of the client program, where its id and secret do not come by HTTP Basic.')
    .meta({ examples: ['1_3bcbxd9e24g0gk4swg0kwgcwo'] }),
  client_secret: z.string().optional().describe('Of the client program, where it does not come by HTTP Basic.'),
}

const ClientCredentialsSchema = z.object(CLIENT)

/** Declares what the token server is asked with, beside what every client has to show. */
export const withClient = <Shape extends z.ZodRawShape>(shape: Shape) =>
  defineParameters({ ...shape, ...CLIENT }, { rules: 'once', maxBytes: FORM_LIMIT })

/** A client that shows its id and secret, by parameters or by Basic; who came by that is challenged by it. */
export const oauthClient: Authenticator<VerifiedClient, TokenServices> = {
  scheme: 'oauth-client',
  errorStatuses: [400, 401, 429],
  needsBody: true,
  async authenticate({ headers: { authorization }, body, clientAddress }, { sessions }) {
    try {
      return await verifyClient(sessions, {
        ...credentialsOf(authorization, ClientCredentialsSchema.parse(body)),
        address: clientAddress,
      })
    } catch (error) {
      throw error instanceof ClientRefused && isBasicAuthorization(authorization)
        ? new ErrorWithHeaders(CHALLENGE, error)
        : error
    }
  },
}

const CHALLENGE = { 'WWW-Authenticate': 'Basic realm="adamant", charset="UTF-8"' }

type OAuthClientCredentials = { readonly client: string; readonly secret: string }

/** RFC 6749, section 2.3: one way of authentication in a request, not more. @throws ClientRefused, OAuthError */
function credentialsOf(
  authorization: string | undefined,
  shown: z.output<typeof ClientCredentialsSchema>,
): OAuthClientCredentials {
  const { client_id: client, client_secret: secret } = shown
  if (authorization !== undefined && isBasicAuthorization(authorization)) {
    const basic = basicOf(authorization)
    if (secret !== undefined || (client !== undefined && client !== basic.client)) {
      throw new OAuthError('invalid_request', 'The client must authenticate in one way, by parameters or by Basic')
    }
    return basic
  }
  if (client === undefined) throw new ClientRefused('Client id was not found in the headers or body')
  if (secret === undefined) throw new ClientRefused()
  return { client, secret }
}

/** RFC 6749, section 2.3.1: both halves are form-encoded before they become Basic credentials. @throws ClientRefused */
function basicOf(header: string): OAuthClientCredentials {
  const shown = parseBasicCredentials(header)
  try {
    if (shown !== undefined) return { client: decodeFormText(shown.user), secret: decodeFormText(shown.password) }
  } catch (error) {
    if (!(error instanceof URIError)) throw error
  }
  throw new ClientRefused('The Basic credentials are not readable')
}

const decodeFormText = (text: string) => decodeURIComponent(text.replaceAll('+', ' '))
