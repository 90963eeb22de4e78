import { revokeToken } from '../../commands/sessions/revoke-token.ts'
import type { Sessions } from '../../commands/sessions/sessions.ts'
import { originOf, type Ctx, type Step } from '../kit/request.ts'
import { clientOf } from './client.ts'
import { OAuthError } from './errors.ts'
import { parametersOf } from './parameters.ts'

/**
 * RFC 7009. The kind of a token is seen from its form, so that no hint is needed. The body is left open there; clients
 * that parse every answer as JSON get an object without anything in it.
 */
export function answerRevoked(sessions: Sessions): Step {
  return async (ctx) => {
    const { client } = clientOf(ctx)
    await revokeToken(sessions, { token: tokenParameter(ctx), client }, { ...originOf(ctx), actor: `client-${client}` })
    ctx.body = {}
  }
}

export function tokenParameter(ctx: Ctx): string {
  const token = parametersOf(ctx).get('token')
  if (token === undefined) throw new OAuthError('invalid_request', 'No "token" parameter found')
  return token
}
