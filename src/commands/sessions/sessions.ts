import {
  findUsed,
  sessionDecider,
  type Rotation,
  type Session,
  type SessionEvent,
} from '../../domain/session/session.ts'
import { randomBytes } from 'node:crypto'
import type { AccessTokens } from '../../credentials/access-tokens.ts'
import { digestOf, randomToken } from '../../credentials/digests.ts'
import type { Decider } from '../../domain/decider.ts'
import type { NoteSecurity } from '../../domain/account/security-event.ts'
import type { NewEvent } from '../../stores/ports/event-store.ts'
import { stamp } from '../core/stamp.ts'
import type { Wish } from '../core/handle.ts'
import type { Accounts } from '../accounts/accounts.ts'

/** What the commands of sessions need. */
export type Sessions = Accounts & {
  readonly tokens: AccessTokens
  /** Seconds that a refresh token lives. */
  readonly refreshTtl: number
  /** The log's, domain/installation/installation.ts: the session feed's. */
  readonly logEpoch: () => number
  readonly security: NoteSecurity
  /** Told of what happens to sessions, so that it holds in this process at once: the session feed. */
  readonly note: (event: Omit<NewEvent, 'id'> & { readonly stream: string }) => void
}

export type Granted = {
  readonly accessToken: string
  readonly refreshToken: string
  /** Seconds. */
  readonly expiresIn: number
}

/** A refresh token says which session it belongs to, so that its stream is found; its 256 random bits are not stored. */
export type RefreshToken = { readonly session: string; readonly text: string; readonly digest: string }

/**
 * The client of sessions in a browser: no client's id has this form, so nobody can show its secret, and no token of such a
 * session can be refreshed, inspected or revoked by a program.
 */
export const BROWSER = { client: 'browser', clientEpoch: 0 } as const

/** Seconds that a session in a browser lasts, however long other tokens live: 12 hours. */
export const BROWSER_TTL = 43_200

/** In case of doubt the newest events are read first: rotations repeat what the older ones said. */
const NEWEST = 4

export const newSession = () => randomBytes(16).toString('hex')
export const sessionStream = (session: string) => `session-${session}`

export function newRefreshToken(session: string): RefreshToken {
  const text = `${session}.${randomToken()}`
  return { session, text, digest: digestOf(text) }
}

/** Undefined for what never was a refresh token. */
export function parseRefreshToken(text: string): RefreshToken | undefined {
  const session = /^([0-9a-f]{32})\.[\w-]{43}$/.exec(text)?.[1]
  return session === undefined ? undefined : { session, text, digest: digestOf(text) }
}

/** Reads as much of a session as it takes to know what a refresh token is; without one, to know its grant. */
export function sessionDeciderFor(digest?: string): Decider<Session, SessionEvent> {
  const suffices = (session: Session) =>
    session.status === 'open'
      ? digest === undefined || session.current.digest === digest || findUsed(session, digest) !== undefined
      : session.status === 'revoked' && session.current !== undefined
  return { ...sessionDecider, newest: { count: NEWEST, suffices } }
}

export function grant(sessions: Sessions, { session, text }: RefreshToken, rotation: Rotation): Granted {
  const accessToken = sessions.tokens.issue(rotation, session, rotation.number)
  return { accessToken, refreshToken: text, expiresIn: sessions.tokens.ttl }
}

/** Tells this process what ended tokens. */
export function noteAll(sessions: Sessions, { stream, origin }: Wish, events: readonly SessionEvent[]): void {
  const stamped = stamp(origin, sessions.clock())
  for (const event of events) sessions.note({ ...stamped('', event), stream })
}
