import {
  findUsed,
  GrantRefused,
  revoke,
  revokeAccessToken,
  type Session,
  type SessionEvent,
} from '../../domain/session/session.ts'
import { handle } from '../core/handle.ts'
import { load } from '../core/load.ts'
import type { Origin } from '../../events/origin.ts'
import { noteAll, parseRefreshToken, sessionDeciderFor, sessionStream, type Sessions } from './sessions.ts'

/**
 * Ends a token: a refresh token with its whole family, an access token alone. A token that is not good any more, or
 * never was one, needs nothing (RFC 7009, section 2.2).
 * @throws GrantRefused for a token of another client
 */
export async function revokeToken(
  sessions: Sessions,
  { token, client }: { token: string; client: string },
  origin: Origin,
): Promise<void> {
  const refreshToken = parseRefreshToken(token)
  if (refreshToken !== undefined) {
    const { session, digest } = refreshToken
    const { state } = await load(sessions.store, sessionStream(session), sessionDeciderFor(digest))
    if (state.status !== 'open' || !belongs(state, digest)) return
    refuseOther(state.current.client, client)
    return append(sessions, session, origin, (found, now) => revoke(found, { now }))
  }
  const claims = sessions.tokens.verify(token)
  if (typeof claims === 'string') return
  refuseOther(claims.client, client)
  const { session, number } = claims
  return append(sessions, session, origin, (found, now) => revokeAccessToken(found, { number, now }))
}

/** Ends a session with all its tokens. */
export const endSession = (sessions: Sessions, session: string, origin: Origin): Promise<void> =>
  append(sessions, session, origin, (found, now) => revoke(found, { now }))

const belongs = (session: Session & { status: 'open' }, digest: string) =>
  session.current.digest === digest || findUsed(session, digest) !== undefined

function refuseOther(owner: string, client: string): void {
  if (owner !== client) throw new GrantRefused('The token was issued to another client')
}

async function append(
  sessions: Sessions,
  session: string,
  origin: Origin,
  decide: (session: Session, now: number) => SessionEvent[],
): Promise<void> {
  const wish = { stream: sessionStream(session), origin }
  const { events } = await handle(sessions, wish, sessionDeciderFor(), decide)
  noteAll(sessions, wish, events)
}
