import type { AccessClaims } from '../../credentials/access-tokens.ts'
import { accountFold, accountStream } from '../../domain/account/account.ts'
import { clientFold, clientStream } from '../../domain/client/client.ts'
import { isSameEpoch } from '../../domain/installation/installation.ts'
import {
  findUsedToken,
  InvalidGrant,
  revokeSession,
  revokeAccessToken,
  type Grant,
  type Session,
  type SessionEvent,
} from '../../domain/session/session.ts'
import type { Origin } from '../../events/event-metadata.ts'
import { handle } from '../core/handle.ts'
import { loadStream } from '../../events/load-stream.ts'
import {
  applyToSessionFeed,
  parseRefreshToken,
  sessionFoldFor,
  sessionStream,
  type SessionCommandContext,
} from './sessions.ts'

export type TokenIntrospectionContext = SessionCommandContext & {
  readonly feed: { isLive(claims: AccessClaims): Promise<boolean> }
}

/** A valid token. Times are in milliseconds since 1970. */
type IntrospectedToken = {
  readonly account: number
  readonly email: string
  readonly issuedAt: number
  readonly expiresAt: number
  readonly kind: 'access' | 'refresh'
}

/**
 * Introspects a token of this client. Returns undefined for an invalid token or another client's (RFC 7662, section
 * 2.2).
 */
export async function inspectToken(
  context: TokenIntrospectionContext,
  { token, client }: { token: string; client: string },
): Promise<IntrospectedToken | undefined> {
  const activeToken = await (parseRefreshToken(token) === undefined ? findActiveAccessToken : findActiveRefreshToken)(
    context,
    token,
  )
  if (activeToken === undefined || activeToken.grant.client !== client) return undefined
  const { grant, issuedAt, expiresAt, kind } = activeToken
  const account = await loadStream(context.store, accountStream(grant.account), accountFold)
  const { state: clientState } = await loadStream(context.store, clientStream(client), clientFold)
  if (account.state.status !== 'enabled' || account.state.epoch !== grant.accountEpoch) return undefined
  if (!isSameEpoch(grant.logEpoch, context.logEpoch())) return undefined
  if (clientState.status !== 'enabled' || clientState.epoch !== grant.clientEpoch) return undefined
  const email = await context.people.displayNameOf(grant.account, account.state)
  return { account: grant.account, email, issuedAt, expiresAt, kind }
}

type ActiveToken = Omit<IntrospectedToken, 'account' | 'email'> & { readonly grant: Grant }

async function findActiveAccessToken(
  { tokens, feed }: TokenIntrospectionContext,
  token: string,
): Promise<ActiveToken | undefined> {
  const claims = tokens.verify(token)
  if (typeof claims === 'string' || !(await feed.isLive(claims))) return undefined
  return { grant: claims, issuedAt: claims.issuedAt, expiresAt: claims.expiresAt, kind: 'access' }
}

async function findActiveRefreshToken(
  { store, clock }: TokenIntrospectionContext,
  token: string,
): Promise<ActiveToken | undefined> {
  const parsed = parseRefreshToken(token)
  if (parsed === undefined) return undefined
  const { state } = await loadStream(store, sessionStream(parsed.session), sessionFoldFor(parsed.digest))
  if (state.status !== 'open' || state.current.digest !== parsed.digest) return undefined
  const { at, expiresAt } = state.current
  return clock() < expiresAt ? { grant: state.current, issuedAt: at, expiresAt, kind: 'refresh' } : undefined
}

/**
 * Revokes a refresh token with its whole session, or a single access token. An invalid token is ignored (RFC 7009,
 * section 2.2).
 * @throws InvalidGrant for a token of another client
 */
export async function revokeToken(
  sessions: SessionCommandContext,
  { token, client }: { token: string; client: string },
  origin: Origin,
): Promise<void> {
  const refreshToken = parseRefreshToken(token)
  if (refreshToken !== undefined) {
    const { session, digest } = refreshToken
    const { state } = await loadStream(sessions.store, sessionStream(session), sessionFoldFor(digest))
    if (state.status !== 'open' || !isTokenOfSession(state, digest)) return
    requireSameClient(state.current.client, client)
    return changeSession(sessions, session, origin, (sessionState, now) => revokeSession(sessionState, { now }))
  }
  const claims = sessions.tokens.verify(token)
  if (typeof claims === 'string') return
  requireSameClient(claims.client, client)
  const { session, number } = claims
  return changeSession(sessions, session, origin, (sessionState, now) =>
    revokeAccessToken(sessionState, { number, now }),
  )
}

/** Revokes a session and all its tokens. */
export const endSession = (sessions: SessionCommandContext, session: string, origin: Origin): Promise<void> =>
  changeSession(sessions, session, origin, (sessionState, now) => revokeSession(sessionState, { now }))

const isTokenOfSession = (session: Session & { status: 'open' }, digest: string) =>
  session.current.digest === digest || findUsedToken(session, digest) !== undefined

function requireSameClient(tokenClient: string, client: string): void {
  if (tokenClient !== client) throw new InvalidGrant('The token was issued to another client')
}

async function changeSession(
  sessions: SessionCommandContext,
  session: string,
  origin: Origin,
  decide: (session: Session, now: number) => SessionEvent[],
): Promise<void> {
  const target = { stream: sessionStream(session), origin }
  const { events } = await handle(sessions, target, sessionFoldFor(), decide)
  applyToSessionFeed(sessions, target, events)
}
