import { z } from 'zod'
import { declareEvents, TIME, type EventOf, type SchemaOutput } from '../event.ts'
import type { Fold } from '../fold.ts'
import { RequestError } from '../request-error.ts'
import { isSameEpoch } from '../installation/installation.ts'

const grant = z.object({
  account: z.int().min(1).describe('id of the account'),
  accountEpoch: z.int().min(0),
  client: z.string().describe('id of the client'),
  clientEpoch: z.int().min(0),
  logEpoch: z.int().min(1).optional().describe('absent if the log was never restored'),
})

const rotation = grant.extend({
  digest: z.string().describe('SHA-256 of the refresh token'),
  number: z.int().min(0).describe('counts the rotations'),
  at: TIME,
  expiresAt: TIME.describe('when the refresh token expires: milliseconds since 1970, UTC'),
})

const sessionStart = rotation.extend({
  from: z.string().optional().describe('identifies the client address of the log-in among those of its account'),
})

/** Who the tokens are for, and the epochs in which they are valid: see account.ts, client.ts and installation.ts. */
export type Grant = SchemaOutput<typeof grant>
/** An access token and its refresh token. */
export type TokenRotation = SchemaOutput<typeof rotation>
/** The first pair of tokens. Sessions of earlier releases have no `from`. */
type SessionStart = SchemaOutput<typeof sessionStart>

/**
 * A session is a family of tokens that starts with a log-in. `digest` is that of the one valid refresh token; `number` counts
 * the rotations and identifies the access token issued with it.
 */
export const sessionEvents = declareEvents('session-{id}', {
  SessionOpened: {
    about: 'An account logged in through a client: a family of tokens was started.',
    payload: sessionStart,
    notShown: ['digest'],
  },
  TokenRefreshed: {
    about:
      'A refresh token was exchanged for a new pair of tokens. The grant is repeated, so that a long session can be loaded from its newest events.',
    payload: rotation,
    notShown: ['digest'],
  },
  RefreshReused: {
    about: 'A refresh token was presented again after it had been exchanged: it was probably stolen.',
    payload: z.object({ at: TIME }),
  },
  SessionRevoked: {
    about: 'The session and all its tokens were revoked.',
    payload: z.object({ at: TIME, reason: z.enum(['reuse', 'request']) }),
  },
  AccessTokenRevoked: {
    about: 'One access token of the session was revoked.',
    payload: z.object({ at: TIME, number: z.int().min(0) }),
  },
})
export type SessionEvent = EventOf<typeof sessionEvents>

/** A used refresh token and when it was used. A linked list, since a session can have many. */
type UsedRefreshToken = {
  readonly digest: string
  readonly at: number
  readonly previous: UsedRefreshToken | undefined
}

type OpenSession = {
  readonly status: 'open'
  readonly current: TokenRotation
  readonly usedTokens: UsedRefreshToken | undefined
}
export type Session =
  | { readonly status: 'unknown' }
  | OpenSession
  | { readonly status: 'revoked'; readonly current: TokenRotation | undefined }

export const sessionFold: Fold<Session, SessionEvent> = { initialState: { status: 'unknown' }, evolve }

function evolve(session: Session, event: SessionEvent): Session {
  switch (event.type) {
    case 'SessionOpened': {
      const { from: _from, ...current } = event.data
      return { status: 'open', current, usedTokens: undefined }
    }
    case 'TokenRefreshed':
      return { status: 'open', current: event.data, usedTokens: withUsedToken(session, event.data.at) }
    case 'SessionRevoked':
      return { status: 'revoked', current: session.status === 'open' ? session.current : undefined }
    default:
      return session
  }
}

function withUsedToken(session: Session, at: number): UsedRefreshToken | undefined {
  return session.status === 'open' ? { digest: session.current.digest, at, previous: session.usedTokens } : undefined
}

/** If a client sends the same refresh token twice within this time, the second request is rejected but the session stays. */
const REUSE_GRACE_MS = 10_000

/** The refresh token is invalid or expired. The message is shown to the client. */
export class InvalidGrant extends RequestError {
  constructor(message: string) {
    super('malformed', message)
  }
}

export function startSession(session: Session, start: SessionStart): SessionEvent[] {
  if (session.status !== 'unknown') throw new RequestError('conflict', 'The session exists')
  return [{ type: 'SessionOpened', data: start }]
}

/** The presented refresh token, the client, the current epochs, and the digest and expiry of the next token. */
type RefreshRequest = {
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
 * Rotates the refresh token. Reuse of a rotated token revokes the whole family, since somebody else may have it (RFC 9700,
 * 4.14.2): the caller must reject the request unless the decision is TokenRefreshed. The digests are of random bits, so no
 * constant-time comparison is needed.
 * @throws InvalidGrant
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
  const usedToken = findUsedToken(session, presentedDigest)
  if (usedToken === undefined || now - usedToken.at <= REUSE_GRACE_MS) throw new InvalidGrant(INVALID_REFRESH_TOKEN)
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

/** One message for every invalid refresh token, so that a client cannot learn why it is invalid. */
export const INVALID_REFRESH_TOKEN = 'Invalid refresh token'

export function revokeSession(session: Session, { now }: { now: number }): SessionEvent[] {
  return session.status === 'open' ? [{ type: 'SessionRevoked', data: { at: now, reason: 'request' } }] : []
}

export function revokeAccessToken(session: Session, { number, now }: { number: number; now: number }): SessionEvent[] {
  return session.status === 'open' ? [{ type: 'AccessTokenRevoked', data: { at: now, number } }] : []
}

export function findUsedToken(session: Session, digest: string): UsedRefreshToken | undefined {
  let token = session.status === 'open' ? session.usedTokens : undefined
  while (token !== undefined && token.digest !== digest) token = token.previous
  return token
}
