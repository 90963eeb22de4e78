import { z } from 'zod'
import { eventsIn, TIME, type EventOf, type Valid } from '../event.ts'
import { Refusal, type Decider } from '../decider.ts'
import { sameEpoch } from '../installation/installation.ts'

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
export type Grant = Valid<typeof grant>
/** A pair of tokens. */
export type Rotation = Valid<typeof rotation>
/** The first pair; sessions of earlier releases have no `from`. */
export type Opening = Valid<typeof opening>

/**
 * One family of tokens, from a log-in on. `digest` is that of the one refresh token that is good now; `number` counts
 * the rotations and names the access token given beside it.
 */
export const sessionEvents = eventsIn('session-{id}', {
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
export type Used = { readonly digest: string; readonly at: number; readonly before: Used | undefined }

export type OpenSession = { readonly status: 'open'; readonly current: Rotation; readonly used: Used | undefined }
export type Session =
  { readonly status: 'unknown' } | OpenSession | { readonly status: 'revoked'; readonly current: Rotation | undefined }

export const sessionDecider: Decider<Session, SessionEvent> = { initialState: { status: 'unknown' }, evolve }

function evolve(session: Session, event: SessionEvent): Session {
  switch (event.type) {
    case 'SessionOpened': {
      const { from: _place, ...current } = event.data
      return { status: 'open', current, used: undefined }
    }
    case 'TokenRefreshed':
      return { status: 'open', current: event.data, used: usedUp(session, event.data.at) }
    case 'SessionRevoked':
      return { status: 'revoked', current: session.status === 'open' ? session.current : undefined }
    default:
      return session
  }
}

function usedUp(session: Session, at: number): Used | undefined {
  return session.status === 'open' ? { digest: session.current.digest, at, before: session.used } : undefined
}

/** A client that sends one refresh token twice at once gets a refusal for this long, and keeps its session. */
const RACE_MILLISECONDS = 10_000

/** The refresh token is not good: the message is for the client. */
export class GrantRefused extends Refusal {
  constructor(message: string) {
    super('malformed', message)
  }
}

export function open(session: Session, opening: Opening): SessionEvent[] {
  if (session.status !== 'unknown') throw new Refusal('conflict', 'The session exists')
  return [{ type: 'SessionOpened', data: opening }]
}

/** What is presented, by whom, and what takes its place. The epochs are those of now. */
export type Refresh = {
  readonly presented: string
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
export function refresh(session: Session, asked: Refresh): SessionEvent[] {
  if (session.status !== 'open' || !isStillGranted(session.current, asked)) throw new GrantRefused(INVALID)
  const { presented, digest, now, expiresAt } = asked
  const { current } = session
  if (presented === current.digest) {
    if (now >= current.expiresAt) throw new GrantRefused('Refresh token has expired')
    return [{ type: 'TokenRefreshed', data: { ...current, digest, number: current.number + 1, at: now, expiresAt } }]
  }
  const used = findUsed(session, presented)
  if (used === undefined || now - used.at <= RACE_MILLISECONDS) throw new GrantRefused(INVALID)
  return [
    { type: 'RefreshReused', data: { at: now } },
    { type: 'SessionRevoked', data: { at: now, reason: 'reuse' } },
  ]
}

function isStillGranted(grant: Grant, { client, clientEpoch, accountEpoch, logEpoch }: Refresh): boolean {
  return (
    grant.client === client &&
    grant.clientEpoch === clientEpoch &&
    grant.accountEpoch === accountEpoch &&
    sameEpoch(grant.logEpoch, logEpoch)
  )
}

/** One text for every refresh token that is not good, so that none tells what it was. */
export const INVALID = 'Invalid refresh token'

export function revoke(session: Session, { now }: { now: number }): SessionEvent[] {
  return session.status === 'open' ? [{ type: 'SessionRevoked', data: { at: now, reason: 'request' } }] : []
}

export function revokeAccessToken(session: Session, { number, now }: { number: number; now: number }): SessionEvent[] {
  return session.status === 'open' ? [{ type: 'AccessTokenRevoked', data: { at: now, number } }] : []
}

export function findUsed(session: Session, digest: string): Used | undefined {
  let used = session.status === 'open' ? session.used : undefined
  while (used !== undefined && used.digest !== digest) used = used.before
  return used
}
