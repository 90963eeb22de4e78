import { sessionDecider, type Session, type SessionEvent } from '../../domain/session/session.ts'
import { parseRefreshToken, sessionStream } from '../../commands/sessions/sessions.ts'
import { Refusal } from '../../domain/refusal.ts'
import { shownSeconds } from '../../projections/history/entry.ts'
import { Who } from '../../projections/history/who.ts'
import { foldedPast, type Telling } from './folded.ts'
import type { Subject } from './subject.ts'

/** Names of accounts and clients, as people know them. */
type Names = (of: { readonly account: number; readonly client: string }) => Promise<{ account: string; client: string }>

/** The events of a session. A refresh token's digest and the mark of an address are nobody's business. */
export const sessionTelling = (names: Names): Telling<Session, SessionEvent> => ({
  ...sessionDecider,
  shown: shownSession,
  words: {
    SessionOpened: 'logged in',
    TokenRefreshed: 'refreshed',
    RefreshReused: 'refresh token reused',
    SessionRevoked: 'ended',
    AccessTokenRevoked: 'access token ended',
  },
  detail: (event) => detailOf(event, names),
})

function shownSession(session: Session) {
  if (session.status === 'unknown') return null
  const { current } = session
  return {
    status: session.status === 'open' ? 'open' : 'ended',
    rotations: current?.number ?? null,
    refreshTokenEnds: current === undefined ? null : shownSeconds(Math.floor(current.expiresAt / 1000)),
  }
}

async function detailOf(event: SessionEvent, names: Names): Promise<string> {
  switch (event.type) {
    case 'SessionOpened': {
      const { account, client } = await names(event.data)
      return `${account} through the client ${client}`
    }
    case 'RefreshReused':
      return 'a refresh token that had been used came again: somebody has a copy of it'
    case 'SessionRevoked':
      return event.data.reason === 'reuse' ? 'because a refresh token was reused' : 'because it was asked for'
    case 'AccessTokenRevoked':
      return `the one of rotation ${event.data.number}`
    default:
      return ''
  }
}

/** What `Who` knows, for an account and a client that a session names. */
export const namesBy =
  (who: Who): Names =>
  async ({ account, client }) => {
    const by = await who.of({ metadata: { actor: `account-${account}`, via: 'http', client } })
    return { account: by?.account ?? `account-${account}`, client: by?.client ?? client }
  }

/** `audit session ID`. */
export const auditSession: Subject = {
  name: 'session',
  about: 'tell what happened to a log-in and its tokens: who opened, refreshed and ended it, and when',
  id: 'its id, as events and the security log name it, or one of its refresh tokens',
  example: 'a6878594024cc1ac45c65d209453e787',
  async past({ store, people }, id) {
    const session = parseRefreshToken(id)?.session ?? id.replace(/^session-/, '')
    const events = await store.read(sessionStream(session))
    // What was given may be a token: it is not repeated.
    if (events.length === 0) throw new Refusal('missing', 'There is no session of this id, and there never was')
    const who = new Who(store, people)
    return foldedPast(events, sessionTelling(namesBy(who)), who)
  },
}
