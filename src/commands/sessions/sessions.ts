import { randomBytes } from 'node:crypto'
import type { AccessTokens } from '../../credentials/access-tokens.ts'
import { tokenDigest, randomToken } from '../../credentials/digests.ts'
import type { FailedAttemptLimiter } from '../../credentials/failed-attempt-limiter.ts'
import type { FamiliarAddresses } from '../../credentials/familiar-addresses.ts'
import type { PasswordHasher } from '../../credentials/password-hasher.ts'
import { accountFold, accountStream } from '../../domain/account/account.ts'
import { normaliseEmail } from '../../domain/account/login.ts'
import type { SecurityEventRecorder } from '../../domain/account/security-event.ts'
import type { Fold } from '../../domain/fold.ts'
import { logEpochMember } from '../../domain/installation/installation.ts'
import {
  findUsedToken,
  InvalidGrant,
  INVALID_REFRESH_TOKEN,
  startSession,
  rotateRefreshToken,
  sessionFold,
  type TokenRotation,
  type Session,
  type SessionEvent,
} from '../../domain/session/session.ts'
import type { Origin } from '../../events/event-metadata.ts'
import type { NewEvent } from '../../stores/ports/event-store.ts'
import { findAccount, type AccountCommandContext, type AccountWithId } from '../accounts/accounts.ts'
import type { VerifiedClient } from '../clients/clients.ts'
import { createEventFactory } from '../core/append.ts'
import { handle, type CommandTarget } from '../core/handle.ts'
import { loadStream } from '../../events/load-stream.ts'

export type SessionCommandContext = AccountCommandContext & {
  readonly tokens: AccessTokens
  /** Seconds. */
  readonly refreshTtl: number
  /** The log's current epoch (domain/installation/installation.ts), from the session feed. */
  readonly logEpoch: () => number
  readonly security: SecurityEventRecorder
  /** Applies session events to this process's session feed at once. */
  readonly note: (event: Omit<NewEvent, 'id'> & { readonly stream: string }) => void
}

type IssuedTokens = {
  readonly accessToken: string
  readonly refreshToken: string
  /** Seconds. */
  readonly expiresIn: number
}

/** A refresh token contains the id of its session, which identifies the stream. Its 256 random bits are not stored. */
type RefreshToken = { readonly session: string; readonly text: string; readonly digest: string }

/**
 * The client of browser sessions. No client id has this form, so no client can authenticate as it, and no token of such
 * a session can be refreshed, introspected or revoked through the OAuth endpoints.
 */
export const BROWSER_CLIENT = { client: 'browser', clientEpoch: 0 } as const

/** Lifetime of a browser session in seconds: 12 hours, independent of other token lifetimes. */
export const BROWSER_SESSION_TTL_SECONDS = 43_200

/** The newest events are read first. They usually suffice, because every rotation repeats the grant. */
const NEWEST_EVENT_COUNT = 4

const newSessionId = () => randomBytes(16).toString('hex')
export const sessionStream = (session: string) => `session-${session}`

function newRefreshToken(session: string): RefreshToken {
  const text = `${session}.${randomToken()}`
  return { session, text, digest: tokenDigest(text) }
}

/** Returns undefined if the text is not formatted as a refresh token. */
export function parseRefreshToken(text: string): RefreshToken | undefined {
  const session = /^([0-9a-f]{32})\.[\w-]{43}$/.exec(text)?.[1]
  return session === undefined ? undefined : { session, text, digest: tokenDigest(text) }
}

/**
 * A fold that reads only as much of a session as is needed to classify a refresh token; without a digest, to know
 * the grant.
 */
export function sessionFoldFor(digest?: string): Fold<Session, SessionEvent> {
  const isSufficient = (session: Session) =>
    session.status === 'open'
      ? digest === undefined || session.current.digest === digest || findUsedToken(session, digest) !== undefined
      : session.status === 'revoked' && session.current !== undefined
  return { ...sessionFold, tail: { count: NEWEST_EVENT_COUNT, isSufficient } }
}

function issueTokens(
  sessions: SessionCommandContext,
  { session, text }: RefreshToken,
  rotation: TokenRotation,
): IssuedTokens {
  const accessToken = sessions.tokens.issue(rotation, session, rotation.number)
  return { accessToken, refreshToken: text, expiresIn: sessions.tokens.ttl }
}

/** Applies events that revoke tokens to this process's session feed. */
export function applyToSessionFeed(
  sessions: SessionCommandContext,
  { stream, origin }: CommandTarget,
  events: readonly SessionEvent[],
): void {
  const toNewEvent = createEventFactory(origin, sessions.clock())
  for (const event of events) sessions.note({ ...toNewEvent('', event), stream })
}

export type LogInContext = SessionCommandContext & {
  readonly passwords: Pick<PasswordHasher, 'matches'>
  readonly attemptLimiter: FailedAttemptLimiter
  readonly familiarAddresses: FamiliarAddresses
}

type PasswordLogIn = {
  readonly username: string
  readonly password: string
  readonly address: string
  readonly client: VerifiedClient
}

/**
 * Opens a session after checking the password.
 * @throws InvalidGrant, identical for an unknown user, a disabled account and a wrong password; RequestError 'too-many'
 */
export async function openSession(sessions: LogInContext, logIn: PasswordLogIn, origin: Origin): Promise<IssuedTokens> {
  const { account, epoch } = await verifyPassword(sessions, logIn, origin)
  const token = newRefreshToken(newSessionId())
  const target = {
    stream: sessionStream(token.session),
    origin: { ...origin, actor: `account-${account}` },
  }
  const opened = await handle(sessions, target, sessionFoldFor(), (session, now) =>
    startSession(session, {
      account,
      accountEpoch: epoch,
      ...logIn.client,
      ...logEpochMember(sessions.logEpoch()),
      digest: token.digest,
      number: 0,
      at: now,
      expiresAt: now + sessions.refreshTtl * 1000,
      from: sessions.familiarAddresses.fingerprint(account, logIn.address),
    }),
  )
  applyToSessionFeed(sessions, target, opened.events)
  if (opened.state.status !== 'open') throw new Error(`${target.stream} did not open`)
  return issueTokens(sessions, token, opened.state.current)
}

async function verifyPassword(
  { store, people, clock, passwords, attemptLimiter, familiarAddresses, security }: LogInContext,
  { username, password, address, client }: PasswordLogIn,
  { correlation }: Origin,
): Promise<AccountWithId> {
  const account = await findAccount({ store, people }, username)
  // Read as many streams as for a known user, so that the response time does not reveal whether the user exists.
  if (account === undefined) await store.readStream(accountStream(0))
  const subject = account?.account ?? `account ${normaliseEmail(username)}`
  const familiar = account !== undefined && familiarAddresses.isFamiliar(account.account, address, clock())
  const isAccepted = await attemptLimiter.attempt({ subject, address, familiar }, async () => {
    const matches = await passwords.matches(password, account?.password, address)
    return matches && account?.status === 'enabled'
  })
  const eventDetails = { account: account?.account ?? null, client: client.client, address, request: correlation }
  security({ event: isAccepted ? 'log-in' : 'log-in-failed', ...eventDetails })
  if (!isAccepted || account === undefined) throw new InvalidGrant('Invalid username and password combination')
  return account
}

/**
 * Exchanges a refresh token for new tokens. A token can be used only once, across all processes; reuse of a token that
 * was rotated long ago revokes the session.
 * @throws InvalidGrant
 */
export async function refreshSession(
  sessions: SessionCommandContext,
  { token, client }: { token: string; client: VerifiedClient },
  origin: Origin,
): Promise<IssuedTokens> {
  const presented = parseRefreshToken(token)
  if (presented === undefined) throw new InvalidGrant(INVALID_REFRESH_TOKEN)
  const { account, accountEpoch } = await loadTokenAccount(sessions, presented)
  const next = newRefreshToken(presented.session)
  const actor = `account-${account}`
  const target = { stream: sessionStream(presented.session), origin: { ...origin, actor } }
  const epochs = { accountEpoch, logEpoch: sessions.logEpoch() }
  const rotationRequest = { presentedDigest: presented.digest, digest: next.digest, ...epochs, ...client }
  const { events } = await handle(sessions, target, sessionFoldFor(presented.digest), (session, now) =>
    rotateRefreshToken(session, { ...rotationRequest, now, expiresAt: now + sessions.refreshTtl * 1000 }),
  )
  const [first] = events
  if (first?.type === 'TokenRefreshed') return issueTokens(sessions, next, first.data)
  applyToSessionFeed(sessions, target, events)
  if (events.some(({ type }) => type === 'RefreshReused')) {
    const { client: clientId } = client
    sessions.security({
      event: 'refresh-token-reused',
      account,
      client: clientId,
      session: presented.session,
      request: origin.correlation,
    })
  }
  throw new InvalidGrant(INVALID_REFRESH_TOKEN)
}

async function loadTokenAccount({ store }: SessionCommandContext, { session, digest }: RefreshToken) {
  const { state } = await loadStream(store, sessionStream(session), sessionFoldFor(digest))
  if (state.status !== 'open') throw new InvalidGrant(INVALID_REFRESH_TOKEN)
  const { account } = state.current
  const holder = await loadStream(store, accountStream(account), accountFold)
  if (holder.state.status !== 'enabled') throw new InvalidGrant(INVALID_REFRESH_TOKEN)
  return { account, accountEpoch: holder.state.epoch }
}
