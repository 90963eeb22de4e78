import { openSession, type OpeningSessions } from '../../commands/sessions/open-session.ts'
import { refreshSession } from '../../commands/sessions/refresh-session.ts'
import type { Granted } from '../../commands/sessions/sessions.ts'
import { originOf, type Ctx, type Step } from '../kit/request.ts'
import { clientOf } from './client.ts'
import { OAuthError } from './errors.ts'
import { parametersOf, type Parameters } from './parameters.ts'

export const GRANT_TYPES = ['password', 'refresh_token'] as const

/** RFC 6749, sections 4.3 and 6: the grant type is looked at before the client is. */
export const checkGrantType: Step = (ctx, next) => {
  const type = parametersOf(ctx).get('grant_type')
  const message = 'Invalid grant_type parameter or parameter missing'
  if (type === undefined) throw new OAuthError('invalid_request', message)
  if (!GRANT_TYPES.some((known) => known === type)) throw new OAuthError('unsupported_grant_type', message)
  return next()
}

export const checkScope: Step = (ctx, next) => {
  const scope = parametersOf(ctx).get('scope') ?? 'user'
  if (scope !== 'user') throw new OAuthError('invalid_scope', 'An unsupported scope was requested.')
  return next()
}

export function answerToken(sessions: OpeningSessions): Step {
  return async (ctx) => {
    const parameters = parametersOf(ctx)
    const byPassword = parameters.get('grant_type') === 'password'
    const { accessToken, expiresIn, refreshToken } = await (byPassword ? logIn : refresh)(sessions, ctx, parameters)
    ctx.body = {
      access_token: accessToken,
      expires_in: expiresIn,
      token_type: 'bearer',
      scope: 'user',
      refresh_token: refreshToken,
    }
  }
}

function logIn(sessions: OpeningSessions, ctx: Ctx, parameters: Parameters): Promise<Granted> {
  const username = parameters.get('username')
  const password = parameters.get('password')
  if (username === undefined || password === undefined) {
    throw new OAuthError('invalid_request', 'Missing parameters. "username" and "password" required')
  }
  return openSession(sessions, { username, password, address: ctx.ip, client: clientOf(ctx) }, originOf(ctx))
}

function refresh(sessions: OpeningSessions, ctx: Ctx, parameters: Parameters): Promise<Granted> {
  const token = parameters.get('refresh_token')
  if (token === undefined) throw new OAuthError('invalid_request', 'No "refresh_token" parameter found')
  return refreshSession(sessions, { token, client: clientOf(ctx) }, originOf(ctx))
}
