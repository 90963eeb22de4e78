import { z } from 'zod'
import { ClientRefused, verifyClient } from '../../commands/clients/verify-client.ts'
import type { ClientCheck, VerifiedClient } from '../../commands/clients/verify-client.ts'
import type { Origin } from '../../events/origin.ts'
import { basicCredentials, isBasic } from '../kit/basic.ts'
import { parameters, type Parameters } from '../kit/parameters/parameters.ts'
import { onceEach } from '../kit/parameters/rules.ts'
import { OAuthError } from './errors.ts'

/** Bytes of a form; the longest that makes sense has a few tokens in it. */
const FORM_LIMIT = 64 * 1024

/** One way for a client to show its id and secret; the other is Basic. */
const CLIENT = {
  client_id: z
    .string()
    .optional()
    .describe('The client, where its id and secret do not come by HTTP Basic.')
    .meta({ examples: ['1_3bcbxd9e24g0gk4swg0kwgcwg4o8k8g4g888kwc44gcc0gwwk4'] }),
  client_secret: z.string().optional().describe("The client's secret, where it does not come by HTTP Basic."),
}

/** Declares what the token server is asked with, beside what every client has to show. */
export const clientParameters = <Shape extends z.ZodRawShape>(shape: Shape) =>
  parameters({ ...shape, ...CLIENT }, { rules: onceEach, upTo: FORM_LIMIT })

/** What a client asks the token server. */
export type Asked<Given> = {
  readonly given: Given
  /** The header. */
  readonly authorization: string | undefined
  readonly address: string
  readonly origin: Origin
}

export type GivenBy<Declared> = Declared extends Parameters<infer Values> ? Values : never

type ShownByParameters = { readonly client_id?: string | undefined; readonly client_secret?: string | undefined }
type Credentials = { readonly client: string; readonly secret: string }

/**
 * The client that has shown its secret, by parameters or by Basic.
 * @throws ClientRefused, OAuthError invalid_request, Refusal too-many
 */
export const clientOf = async (check: ClientCheck, asked: Asked<ShownByParameters>): Promise<VerifiedClient> =>
  verifyClient(check, { ...credentialsOf(asked), address: asked.address })

/** RFC 6749, section 2.3: one way of authentication in a request, not more. */
function credentialsOf({ authorization, given }: Asked<ShownByParameters>): Credentials {
  const { client_id: client, client_secret: secret } = given
  if (authorization !== undefined && isBasic(authorization)) {
    const shown = basicOf(authorization)
    if (secret !== undefined || (client !== undefined && client !== shown.client)) {
      throw new OAuthError('invalid_request', 'The client must authenticate in one way, by parameters or by Basic')
    }
    return shown
  }
  if (client === undefined) throw new ClientRefused('Client id was not found in the headers or body')
  if (secret === undefined) throw new ClientRefused()
  return { client, secret }
}

/** RFC 6749, section 2.3.1: both halves are form-encoded before they become Basic credentials. */
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
