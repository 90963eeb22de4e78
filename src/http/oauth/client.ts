import { z } from 'zod'
import { ClientRefused, verifyClient, type VerifiedClient } from '../../commands/clients/clients.ts'
import type { Inspecting } from '../../commands/sessions/presented-token.ts'
import type { OpeningSessions } from '../../commands/sessions/sessions.ts'
import { Refusal, type RefusalKind } from '../../domain/decider.ts'
import { GrantRefused } from '../../domain/session/session.ts'
import { answer } from '../kit/answer.ts'
import { basicCredentials, isBasic } from '../kit/authenticate.ts'
import type { Family, Who } from '../kit/endpoint.ts'
import { RefusedWith } from '../kit/errors.ts'
import { parameters } from '../kit/parameters/parameters.ts'

/** RFC 6749, section 5.2. Wrong grants and clients have their own classes, in the domain and the commands. */
export type OAuthCode = 'invalid_request' | 'unsupported_grant_type' | 'invalid_scope'

export class OAuthError extends Refusal {
  constructor(
    readonly code: OAuthCode,
    message: string,
  ) {
    super('malformed', message)
  }
}

/** RFC 6749, section 5.1; errors as well. */
export const NEVER_STORED = { 'Cache-Control': 'no-store', Pragma: 'no-cache' }

/** The faults that keep their status here; every other fault of the caller is 400. */
const KEPT: ReadonlySet<RefusalKind> = new Set(['unauthenticated', 'missing', 'not-allowed', 'too-many', 'unavailable'])

const TokenError = z
  .object({
    error: z.string().describe('A code of RFC 6749, section 5.2, such as `invalid_grant`.'),
    error_description: z.string(),
  })
  .meta({ id: 'TokenError' })

/** `{"error": "invalid_grant", "error_description": "..."}` */
export const oauth: Family = {
  name: 'oauth',
  prefixes: ['/api/oauth'],
  refusals: { media: 'application/json', schema: TokenError },
  refusal({ status, faults }, error) {
    const body = {
      error: codeOf(error, status),
      error_description: described(faults.map(({ message }) => message).join('; ')),
    }
    const isKept = !(error instanceof Refusal) || KEPT.has(error.kind)
    return answer(isKept ? status : 400, body, NEVER_STORED)
  },
}

function codeOf(error: unknown, status: number): string {
  if (error instanceof OAuthError) return error.code
  if (error instanceof GrantRefused) return 'invalid_grant'
  if (error instanceof ClientRefused) return 'invalid_client'
  if (status === 429 || status === 503) return 'temporarily_unavailable'
  return status >= 500 ? 'server_error' : 'invalid_request'
}

/** Only the characters that RFC 6749, section 5.2, has for a description. */
const described = (text: string) => text.replace(/["\\]/g, "'").replace(/[^\x20-\x7e]/g, '?')

/** What the token server answers from. */
export type TokenServices = {
  readonly sessions: OpeningSessions & Inspecting
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

const Shown = z.object(CLIENT)

/** Declares what the token server is asked with, beside what every client has to show. */
export const withClient = <Shape extends z.ZodRawShape>(shape: Shape) =>
  parameters({ ...shape, ...CLIENT }, { rules: 'once', upTo: FORM_LIMIT })

/** A client that shows its id and secret, by parameters or by Basic; who came by that is challenged by it. */
export const client: Who<VerifiedClient, TokenServices> = {
  scheme: 'oauth-client',
  refuses: [400, 401, 429],
  needsBody: true,
  async admit({ headers: { authorization }, body, address }, { sessions }) {
    try {
      return await verifyClient(sessions, { ...credentialsOf(authorization, Shown.parse(body)), address })
    } catch (error) {
      throw error instanceof ClientRefused && isBasic(authorization) ? new RefusedWith(CHALLENGE, error) : error
    }
  },
}

const CHALLENGE = { 'WWW-Authenticate': 'Basic realm="adamant", charset="UTF-8"' }

type Credentials = { readonly client: string; readonly secret: string }

/** RFC 6749, section 2.3: one way of authentication in a request, not more. @throws ClientRefused, OAuthError */
function credentialsOf(authorization: string | undefined, shown: z.output<typeof Shown>): Credentials {
  const { client_id: client, client_secret: secret } = shown
  if (authorization !== undefined && isBasic(authorization)) {
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
function basicOf(header: string): Credentials {
  const shown = basicCredentials(header)
  try {
    if (shown !== undefined) return { client: formDecoded(shown.user), secret: formDecoded(shown.password) }
  } catch (error) {
    if (!(error instanceof URIError)) throw error
  }
  throw new ClientRefused('The Basic credentials are not readable')
}

const formDecoded = (text: string) => decodeURIComponent(text.replaceAll('+', ' '))
