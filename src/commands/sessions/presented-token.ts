import type { AccessClaims } from '../../credentials/access-tokens.ts'
import { accountDecider, accountStream } from '../../domain/account/account.ts'
import { clientDecider, clientStream } from '../../domain/client/client.ts'
import { sameEpoch } from '../../domain/installation/installation.ts'
import {
  findUsed,
  GrantRefused,
  revoke,
  revokeAccessToken,
  type Grant,
  type Session,
  type SessionEvent,
} from '../../domain/session/session.ts'
import type { Origin } from '../../events/origin.ts'
import { handle } from '../core/handle.ts'
import { load } from '../../events/load.ts'
import { noteAll, parseRefreshToken, sessionDeciderFor, sessionStream, type Sessions } from './sessions.ts'

export type Inspecting = Sessions & {
  readonly feed: { isLive(claims: AccessClaims): boolean | Promise<boolean> }
}

/** A token that is good now. Times in milliseconds since 1970. */
export type Inspected = {
  readonly account: number
  readonly email: string
  readonly issuedAt: number
  readonly expiresAt: number
  readonly kind: 'access' | 'refresh'
}

/** What a token of this client is; undefined for one that is not good, or another client's (RFC 7662, section 2.2). */
export async function inspectToken(
  inspecting: Inspecting,
  { token, client }: { token: string; client: string },
): Promise<Inspected | undefined> {
  const found = await (parseRefreshToken(token) === undefined ? accessToken : refreshToken)(inspecting, token)
  if (found === undefined || found.grant.client !== client) return undefined
  const { grant, issuedAt, expiresAt, kind } = found
  const account = await load(inspecting.store, accountStream(grant.account), accountDecider)
  const { state: owner } = await load(inspecting.store, clientStream(client), clientDecider)
  if (account.state.status !== 'enabled' || account.state.epoch !== grant.accountEpoch) return undefined
  if (!sameEpoch(grant.logEpoch, inspecting.logEpoch())) return undefined
  if (owner.status !== 'enabled' || owner.epoch !== grant.clientEpoch) return undefined
  const email = await inspecting.people.shownAs(grant.account, account.state)
  return { account: grant.account, email, issuedAt, expiresAt, kind }
}

type Found = Omit<Inspected, 'account' | 'email'> & { readonly grant: Grant }

async function accessToken({ tokens, feed }: Inspecting, token: string): Promise<Found | undefined> {
  const claims = tokens.verify(token)
  if (typeof claims === 'string' || !(await feed.isLive(claims))) return undefined
  return { grant: claims, issuedAt: claims.issuedAt, expiresAt: claims.expiresAt, kind: 'access' }
}

async function refreshToken({ store, clock }: Inspecting, token: string): Promise<Found | undefined> {
  const parsed = parseRefreshToken(token)
  if (parsed === undefined) return undefined
  const { state } = await load(store, sessionStream(parsed.session), sessionDeciderFor(parsed.digest))
  if (state.status !== 'open' || state.current.digest !== parsed.digest) return undefined
  const { at, expiresAt } = state.current
  return clock() < expiresAt ? { grant: state.current, issuedAt: at, expiresAt, kind: 'refresh' } : undefined
}

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
