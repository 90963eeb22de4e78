import type { ClientCheck } from '../../commands/clients/verify-client.ts'
import { inspectToken, type Inspecting } from '../../commands/sessions/inspect-token.ts'
import { clientOf, type Asked, type GivenBy } from './client.ts'
import { tokenIn, type OneTokenParameters } from './revoke.ts'

/** RFC 7662: what the client's own token is good for; nothing is told about any other. */
export async function answerIntrospected(
  asked: Asked<GivenBy<typeof OneTokenParameters>>,
  inspecting: Inspecting & ClientCheck,
): Promise<object> {
  const { client } = await clientOf(inspecting, asked)
  const found = await inspectToken(inspecting, { token: tokenIn(asked.given), client })
  if (found === undefined) return { active: false }
  return {
    active: true,
    scope: 'user',
    client_id: client,
    username: found.email,
    ...(found.kind === 'access' && { token_type: 'bearer' }),
    exp: Math.floor(found.expiresAt / 1000),
    iat: Math.floor(found.issuedAt / 1000),
    sub: String(found.account),
  }
}
