import { z } from 'zod'
import { openSession, type OpeningSessions } from '../../commands/sessions/open-session.ts'
import { refreshSession } from '../../commands/sessions/refresh-session.ts'
import { clientOf, clientParameters, type Asked, type GivenBy } from './client.ts'
import { OAuthError } from './errors.ts'

export const GRANT_TYPES = ['password', 'refresh_token'] as const

const text = z.string().optional()

export const TokenParameters = clientParameters({
  grant_type: text
    .describe('`password` opens a session, `refresh_token` goes on with one.')
    .meta({ enum: GRANT_TYPES, examples: ['password'] }),
  username: text.describe("With `password`: the account's e-mail address.").meta({ examples: ['ann@example.com'] }),
  password: text.describe('With `password`: its password.'),
  refresh_token: text.describe('With `refresh_token`: the one of the last answer. Each is good for one refresh.'),
  scope: text.describe('There is one scope, `user`.').meta({ examples: ['user'] }),
})

type Given = GivenBy<typeof TokenParameters>

/** RFC 6749, sections 4.3 and 6: the grant type is looked at before the client is. */
export async function answerToken(asked: Asked<Given>, sessions: OpeningSessions): Promise<object> {
  checkGrantType(asked.given)
  const client = await clientOf(sessions, asked)
  checkScope(asked.given)
  const wish = asked.given.grant_type === 'password' ? logInOf(asked) : refreshOf(asked.given)
  const { accessToken, expiresIn, refreshToken } = await ('username' in wish
    ? openSession(sessions, { ...wish, client }, asked.origin)
    : refreshSession(sessions, { ...wish, client }, asked.origin))
  return {
    access_token: accessToken,
    expires_in: expiresIn,
    token_type: 'bearer',
    scope: 'user',
    refresh_token: refreshToken,
  }
}

function checkGrantType({ grant_type: type }: Given): void {
  const message = 'Invalid grant_type parameter or parameter missing'
  if (type === undefined) throw new OAuthError('invalid_request', message)
  if (!GRANT_TYPES.some((known) => known === type)) throw new OAuthError('unsupported_grant_type', message)
}

function checkScope({ scope = 'user' }: Given): void {
  if (scope !== 'user') throw new OAuthError('invalid_scope', 'An unsupported scope was requested.')
}

function logInOf({ given: { username, password }, address }: Asked<Given>) {
  if (username === undefined || password === undefined) {
    throw new OAuthError('invalid_request', 'Missing parameters. "username" and "password" required')
  }
  return { username, password, address }
}

function refreshOf({ refresh_token: token }: Given) {
  if (token === undefined) throw new OAuthError('invalid_request', 'No "refresh_token" parameter found')
  return { token }
}
