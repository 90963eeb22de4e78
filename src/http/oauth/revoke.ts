import { z } from 'zod'
import { revokeToken } from '../../commands/sessions/revoke-token.ts'
import type { Sessions } from '../../commands/sessions/sessions.ts'
import type { ClientCheck } from '../../commands/clients/verify-client.ts'
import { clientOf, clientParameters, type Asked, type GivenBy } from './client.ts'
import { OAuthError } from './errors.ts'

/** The kind of a token is seen from its form, so that no hint is needed. */
export const OneTokenParameters = clientParameters({
  token: z.string().optional().describe('An access token or a refresh token.'),
  token_type_hint: z.string().optional().describe('Ignored: what a token is, is seen from its form.'),
})

type Given = GivenBy<typeof OneTokenParameters>

/** RFC 7009, which leaves the body open; clients that parse every answer as JSON get an object without anything in it. */
export async function answerRevoked(asked: Asked<Given>, sessions: Sessions & ClientCheck): Promise<object> {
  const { client } = await clientOf(sessions, asked)
  const token = tokenIn(asked.given)
  await revokeToken(sessions, { token, client }, { ...asked.origin, actor: `client-${client}` })
  return {}
}

/** @throws OAuthError invalid_request */
export function tokenIn({ token }: Given): string {
  if (token === undefined) throw new OAuthError('invalid_request', 'No "token" parameter found')
  return token
}
