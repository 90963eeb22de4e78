import { z } from 'zod'
import { declareEvents, TIME, type EventOf, type SchemaOutput } from '../event.ts'
import { RequestError, type Decider } from '../decider.ts'
import { isSameEpoch } from '../installation/installation.ts'

const grant = z.object({
  account: z.int().min(1).describe('id of the account'),
  accountEpoch: z.int().min(0),
  client: z.string().describe('id of the client'),
  clientEpoch: z.int().min(0),
  logEpoch: z.int().min(1).optional().describe('absent where the log was never restored'),
})

const rotation = grant.extend({
  digest: z.string().describe('SHA-256 of the refresh token'),
  number: z.int().min(0).describe('counts the rotations'),
  at: TIME,
  expiresAt: TIME.describe('when the refresh token ends: milliseconds since 1970, UTC'),
})

const opening = rotation.extend({
  from: z.string().optional().describe('marks the address of the log-in among those of its account'),
})

/** What a session's tokens are good for, and what they carry. The epochs are those of account.ts, client.ts and installation.ts. */
export type Grant = SchemaOutput<typeof grant>
/** A pair of tokens. */
export type TokenRotation = SchemaOutput<typeof rotation>
/** The first pair; sessions of earlier releases have no `from`. */
export type SessionStart = SchemaOutput<typeof opening>

/**
 * One family of tokens, from a log-in on. `digest` is that of the one refresh token that is good now; `number` counts
 * the rotations and names the access token given beside it.
 */
export const sessionEvents = declareEvents('session-{id}', {
  SessionOpened: {
    about: 'Somebody logged in by a client: a family of tokens began.',
    payload: opening,
    notShown: ['digest'],
  },
  TokenRefreshed: {
    about:
      'A refresh token was exchanged for the next pair of tokens. The grant is repeated, so that long sessions are read from their newest events.',
    payload: rotation,
    notShown: ['digest'],
  },
  RefreshReused: {
    about: 'A refresh token that had been exchanged came again: somebody has a copy of it.',
    payload: z.object({ at: TIME }),
  },
  SessionRevoked: {
    about: 'The session ended, and all its tokens with it.',
    payload: z.object({ at: TIME, reason: z.enum(['reuse', 'request']) }),
  },
  AccessTokenRevoked: {
    about: 'One access token of the session was ended.',
    payload: z.object({ at: TIME, number: z.int().min(0) }),
  },
})
export type SessionEvent = EventOf<typeof sessionEvents>

/** A refresh token that was used, and when; a chain, since a family may be long. */
export type UsedRefreshToken = {
  readonly digest: string
  readonly at: number
  readonly previous: UsedRefreshToken | undefined
}

export type OpenSession = {
  readonly status: 'open'
  readonly current: TokenRotation
  readonly used: UsedRefreshToken | undefined
}
export type Session =
  | { readonly status: 'unknown' }
  | OpenSession
  | { readonly status: 'revoked'; readonly current: TokenRotation | undefined }

export const sessionDecider: Decider<Session, SessionEvent> = { initialState: { status: 'unknown' }, evolve }

function evolve(session: Session, event: SessionEvent): Session {
  switch (event.type) {
    case 'SessionOpened': {
      const { from: _place, ...current } = event.data
      return { status: 'open', current, used: undefined }
    }
    case 'TokenRefreshed':
      return { status: 'open', current: event.data, used: withUsedToken(session, event.data.at) }
    case 'SessionRevoked':
      return { status: 'revoked', current: session.status === 'open' ? session.current : undefined }
    default:
      return session
  }
}

function withUsedToken(session: Session, at: number): UsedRefreshToken | undefined {
  return session.status === 'open' ? { digest: session.current.digest, at, previous: session.used } : undefined
}

/** A client that sends one refresh token twice at once gets a refusal for this long, and keeps its session. */
const REUSE_GRACE_MS = 10_000

/** The refresh token is not good: the message is for the client. */
export class InvalidGrant extends RequestError {
  constructor(message: string) {
    super('malformed', message)
  }
}

export function startSession(session: Session, opening: SessionStart): SessionEvent[] {
  if (session.status !== 'unknown') throw new RequestError('conflict', 'The session exists')
  return [{ type: 'SessionOpened', data: opening }]
}

/** What is presented, by whom, and what takes its place. The epochs are those of now. */
export type RefreshRequest = {
  readonly presentedDigest: string
  readonly client: string
  readonly clientEpoch: number
  readonly accountEpoch: number
  readonly logEpoch: number
  readonly digest: string
  readonly now: number
  readonly expiresAt: number
}

/**
 * Rotates the refresh token. One that was used before ends the family, since somebody else has it (RFC 9700, 4.14.2):
 * the caller refuses the request when what was decided is no TokenRefreshed. Digests of random bits need no comparison
 * in constant time.
 * @throws GrantRefused
 */
export function rotateRefreshToken(session: Session, request: RefreshRequest): SessionEvent[] {
  if (session.status !== 'open' || !isStillGranted(session.current, request))
    throw new InvalidGrant(INVALID_REFRESH_TOKEN)
  const { presentedDigest, digest, now, expiresAt } = request
  const { current } = session
  if (presentedDigest === current.digest) {
    if (now >= current.expiresAt) throw new InvalidGrant('Refresh token has expired')
    return [{ type: 'TokenRefreshed', data: { ...current, digest, number: current.number + 1, at: now, expiresAt } }]
  }
  const used = findUsedToken(session, presentedDigest)
  if (used === undefined || now - used.at <= REUSE_GRACE_MS) throw new InvalidGrant(INVALID_REFRESH_TOKEN)
  return [
    { type: 'RefreshReused', data: { at: now } },
    { type: 'SessionRevoked', data: { at: now, reason: 'reuse' } },
  ]
}

function isStillGranted(grant: Grant, { client, clientEpoch, accountEpoch, logEpoch }: RefreshRequest): boolean {
  return (
    grant.client === client &&
    grant.clientEpoch === clientEpoch &&
    grant.accountEpoch === accountEpoch &&
    isSameEpoch(grant.logEpoch, logEpoch)
  )
}

/** One text for every refresh token that is not good, so that none tells what it was. */
export const INVALID_REFRESH_TOKEN = 'Invalid refresh token'

export function revokeSession(session: Session, { now }: { now: number }): SessionEvent[] {
  return session.status === 'open' ? [{ type: 'SessionRevoked', data: { at: now, reason: 'request' } }] : []
}

export function revokeAccessToken(session: Session, { number, now }: { number: number; now: number }): SessionEvent[] {
  return session.status === 'open' ? [{ type: 'AccessTokenRevoked', data: { at: now, number } }] : []
}

export function findUsedToken(session: Session, digest: string): UsedRefreshToken | undefined {
  let used = session.status === 'open' ? session.used : undefined
  while (used !== undefined && used.digest !== digest) used = used.previous
  return used
}
