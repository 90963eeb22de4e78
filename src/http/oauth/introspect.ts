import { inspectToken, type Inspecting } from '../../commands/sessions/inspect-token.ts'
import type { Step } from '../kit/request.ts'
import { clientOf } from './client.ts'
import { tokenParameter } from './revoke.ts'

/** RFC 7662: what the client's own token is good for; nothing is told about any other. */
export function answerIntrospected(inspecting: Inspecting): Step {
  return async (ctx) => {
    const { client } = clientOf(ctx)
    const found = await inspectToken(inspecting, { token: tokenParameter(ctx), client })
    if (found === undefined) {
      ctx.body = { active: false }
      return
    }
    ctx.body = {
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
}
