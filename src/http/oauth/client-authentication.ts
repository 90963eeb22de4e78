import { z } from 'zod'
import { ClientRefused, verifyClient, type VerifiedClient } from '../../commands/clients/clients.ts'
import type { TokenIntrospectionContext } from '../../commands/sessions/token-introspection.ts'
import type { LogInContext } from '../../commands/sessions/sessions.ts'
import { RequestError } from '../../domain/request-error.ts'
import { InvalidGrant } from '../../domain/session/session.ts'
import { createResponse } from '../kit/response.ts'
import { parseBasicCredentials, isBasicAuthorization } from '../kit/authenticate.ts'
import type { EndpointGroup, Authenticator } from '../kit/endpoint.ts'
import { ErrorWithHeaders } from '../kit/errors.ts'
import { defineParameters } from '../kit/parameters/parameters.ts'

/** Error codes of RFC 6749, section 5.2. `invalid_grant` and `invalid_client` are InvalidGrant and ClientRefused. */
type OAuthErrorCode = 'invalid_request' | 'unsupported_grant_type' | 'invalid_scope'

export class OAuthError extends RequestError {
  constructor(
    readonly code: OAuthErrorCode,
    message: string,
  ) {
    super('malformed', message)
  }
}

/** RFC 6749, section 5.1; also sent with errors. */
export const NO_STORE_HEADERS = { 'Cache-Control': 'no-store', Pragma: 'no-cache' }

/** Errors that keep their status; all other client errors are 400 (RFC 6749, section 5.2). */
const KEPT_STATUSES: ReadonlySet<number> = new Set([401, 404, 405, 429, 503])

const TokenError = z
  .object({
    error: z.string().describe('An error code of RFC 6749, section 5.2, such as `invalid_grant`.'),
    error_description: z.string(),
  })
  .meta({ id: 'TokenError' })

/** `{"error": "invalid_grant", "error_description": "..."}` */
export const oauthGroup: EndpointGroup = {
  tag: 'Token server',
  pathPrefixes: ['/api/oauth'],
  errorFormat: { mediaType: 'application/json', schema: TokenError },
  errorResponse({ status, faults }, error) {
    const body = {
      error: codeOf(error, status),
      error_description: sanitizeDescription(faults.map(({ message }) => message).join('; ')),
    }
    const keepsStatus = !(error instanceof RequestError) || KEPT_STATUSES.has(status)
    return createResponse(keepsStatus ? status : 400, body, NO_STORE_HEADERS)
  },
}

function codeOf(error: unknown, status: number): string {
  if (error instanceof OAuthError) return error.code
  if (error instanceof InvalidGrant) return 'invalid_grant'
  if (error instanceof ClientRefused) return 'invalid_client'
  if (status === 429 || status === 503) return 'temporarily_unavailable'
  return status >= 500 ? 'server_error' : 'invalid_request'
}

/** Replaces characters that RFC 6749, section 5.2, does not allow in an `error_description`. */
const sanitizeDescription = (text: string) => text.replace(/["\\]/g, "'").replace(/[^\x20-\x7e]/g, '?')

export type TokenServices = {
  readonly sessions: LogInContext & TokenIntrospectionContext
}

/** Bytes. The largest valid form contains a few tokens. */
const FORM_LIMIT = 64 * 1024

/** Client credentials in the parameters, as an alternative to HTTP Basic. */
const CLIENT = {
  client_id: z
    .string()
    .optional()
    .describe('The client id, unless sent by HTTP Basic.')
    .meta({ examples: ['1_3bcbxd9e24g0gk4swg0kwgcwo'] }),
  client_secret: z
    .string()
    .optional()
    .describe('The client secret, unless sent by HTTP Basic.')
    .meta({ examples: ['4ok2x70rlfokc8g0wws8c8kwcokw80k44sg48goc0ok4w0so0k'] }),
}

const ClientCredentialsSchema = z.object(CLIENT)

/** Declares the parameters of a token server endpoint, and adds the client credentials. */
export const withClient = <Shape extends z.ZodRawShape>(shape: Shape) =>
  defineParameters({ ...shape, ...CLIENT }, { rules: 'once', maxBytes: FORM_LIMIT })

/** Authenticates an OAuth client by parameters or HTTP Basic. Failed Basic credentials get a `WWW-Authenticate` challenge. */
export const oauthClient: Authenticator<VerifiedClient, TokenServices> = {
  scheme: 'oauth-client',
  errorStatuses: [400, 401, 429],
  needsBody: true,
  async authenticate({ headers: { authorization }, request: { body }, ip }, { sessions }) {
    try {
      return await verifyClient(sessions, {
        ...credentialsOf(authorization, ClientCredentialsSchema.parse(body)),
        address: ip,
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

/** RFC 6749, section 2.3: a client must not use more than one authentication method. @throws ClientRefused, OAuthError */
function credentialsOf(
  authorization: string | undefined,
  parameters: z.output<typeof ClientCredentialsSchema>,
): OAuthClientCredentials {
  const { client_id: client, client_secret: secret } = parameters
  if (authorization !== undefined && isBasicAuthorization(authorization)) {
    const basic = basicOf(authorization)
    if (secret !== undefined || (client !== undefined && client !== basic.client)) {
      throw new OAuthError('invalid_request', 'The client must use only one authentication method, parameters or Basic')
    }
    return basic
  }
  if (client === undefined) throw new ClientRefused('Client id was not found in the headers or body')
  if (secret === undefined) throw new ClientRefused()
  return { client, secret }
}

/** RFC 6749, section 2.3.1: id and secret in Basic credentials are form-encoded. @throws ClientRefused */
function basicOf(header: string): OAuthClientCredentials {
  const credentials = parseBasicCredentials(header)
  try {
    if (credentials !== undefined)
      return { client: decodeFormText(credentials.user), secret: decodeFormText(credentials.password) }
  } catch (error) {
    if (!(error instanceof URIError)) throw error
  }
  throw new ClientRefused('Malformed Basic credentials')
}

const decodeFormText = (text: string) => decodeURIComponent(text.replaceAll('+', ' '))
