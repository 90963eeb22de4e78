import { randomBytes } from 'node:crypto'
import type { AccessTokens } from '../../credentials/access-tokens.ts'
import { digestOf, randomToken } from '../../credentials/digests.ts'
import type { GuessLimits } from '../../credentials/guess-limits.ts'
import type { LogInPlaces } from '../../credentials/log-in-places.ts'
import type { Passwords } from '../../credentials/passwords.ts'
import { accountDecider, accountStream } from '../../domain/account/account.ts'
import { normaliseEmail } from '../../domain/account/login.ts'
import type { NoteSecurity } from '../../domain/account/security-event.ts'
import type { Decider } from '../../domain/decider.ts'
import { carried } from '../../domain/installation/installation.ts'
import {
  findUsed,
  GrantRefused,
  INVALID,
  open,
  refresh,
  sessionDecider,
  type Rotation,
  type Session,
  type SessionEvent,
} from '../../domain/session/session.ts'
import type { Origin } from '../../events/origin.ts'
import type { NewEvent } from '../../stores/ports/event-store.ts'
import { findAccount, type Accounts, type Known } from '../accounts/accounts.ts'
import type { VerifiedClient } from '../clients/clients.ts'
import { stamp } from '../core/append.ts'
import { handle, type Wish } from '../core/handle.ts'
import { load } from '../../events/load.ts'

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

const newSession = () => randomBytes(16).toString('hex')
export const sessionStream = (session: string) => `session-${session}`

function newRefreshToken(session: string): RefreshToken {
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

function grant(sessions: Sessions, { session, text }: RefreshToken, rotation: Rotation): Granted {
  const accessToken = sessions.tokens.issue(rotation, session, rotation.number)
  return { accessToken, refreshToken: text, expiresIn: sessions.tokens.ttl }
}

/** Tells this process what ended tokens. */
export function noteAll(sessions: Sessions, { stream, origin }: Wish, events: readonly SessionEvent[]): void {
  const stamped = stamp(origin, sessions.clock())
  for (const event of events) sessions.note({ ...stamped('', event), stream })
}

export type OpeningSessions = Sessions & {
  readonly passwords: Pick<Passwords, 'matches'>
  readonly guesses: GuessLimits
  /** From where accounts have logged in. */
  readonly places: LogInPlaces
}

export type LogIn = {
  readonly username: string
  readonly password: string
  readonly address: string
  readonly client: VerifiedClient
}

/**
 * Opens a session for who knows the password.
 * @throws GrantRefused, the same for an unknown user, a disabled one and a wrong password; Refusal too-many
 */
export async function openSession(sessions: OpeningSessions, logIn: LogIn, origin: Origin): Promise<Granted> {
  const { account, epoch } = await verifyPassword(sessions, logIn, origin)
  const token = newRefreshToken(newSession())
  const wish = {
    stream: sessionStream(token.session),
    origin: { ...origin, actor: `account-${account}` },
  }
  const opened = await handle(sessions, wish, sessionDeciderFor(), (session, now) =>
    open(session, {
      account,
      accountEpoch: epoch,
      ...logIn.client,
      ...carried(sessions.logEpoch()),
      digest: token.digest,
      number: 0,
      at: now,
      expiresAt: now + sessions.refreshTtl * 1000,
      from: sessions.places.mark(account, logIn.address),
    }),
  )
  noteAll(sessions, wish, opened.events)
  if (opened.state.status !== 'open') throw new Error(`${wish.stream} did not open`)
  return grant(sessions, token, opened.state.current)
}

async function verifyPassword(
  { store, people, clock, passwords, guesses, places, security }: OpeningSessions,
  { username, password, address, client }: LogIn,
  { correlation }: Origin,
): Promise<Known> {
  const known = await findAccount({ store, people }, username)
  // As many streams are read for nobody as for somebody, and so it takes as long.
  if (known === undefined) await store.read(accountStream(0))
  const subject = known?.account ?? `account ${normaliseEmail(username)}`
  const familiar = known !== undefined && places.isFamiliar(known.account, address, clock())
  const right = await guesses.attempt({ subject, address, familiar }, async () => {
    const matches = await passwords.matches(password, known?.password, address)
    return matches && known?.status === 'enabled'
  })
  const tried = { account: known?.account ?? null, client: client.client, address, request: correlation }
  security({ event: right ? 'log-in' : 'log-in-failed', ...tried })
  if (!right || known === undefined) throw new GrantRefused('Invalid username and password combination')
  return known
}

/**
 * Gives the next tokens for a refresh token, once: whoever comes second, in any process, is refused. One that was used
 * long ago ends its family.
 * @throws GrantRefused
 */
export async function refreshSession(
  sessions: Sessions,
  { token, client }: { token: string; client: VerifiedClient },
  origin: Origin,
): Promise<Granted> {
  const presented = parseRefreshToken(token)
  if (presented === undefined) throw new GrantRefused(INVALID)
  const { account, accountEpoch } = await holderOf(sessions, presented)
  const next = newRefreshToken(presented.session)
  const actor = `account-${account}`
  const wish = { stream: sessionStream(presented.session), origin: { ...origin, actor } }
  const epochs = { accountEpoch, logEpoch: sessions.logEpoch() }
  const asked = { presented: presented.digest, digest: next.digest, ...epochs, ...client }
  const { events } = await handle(sessions, wish, sessionDeciderFor(presented.digest), (session, now) =>
    refresh(session, { ...asked, now, expiresAt: now + sessions.refreshTtl * 1000 }),
  )
  const [first] = events
  if (first?.type === 'TokenRefreshed') return grant(sessions, next, first.data)
  noteAll(sessions, wish, events)
  if (events.some(({ type }) => type === 'RefreshReused')) {
    const { client: by } = client
    sessions.security({
      event: 'refresh-token-reused',
      account,
      client: by,
      session: presented.session,
      request: origin.correlation,
    })
  }
  throw new GrantRefused(INVALID)
}

/** The account behind the token as it is now. */
async function holderOf({ store }: Sessions, { session, digest }: RefreshToken) {
  const { state } = await load(store, sessionStream(session), sessionDeciderFor(digest))
  if (state.status !== 'open') throw new GrantRefused(INVALID)
  const { account } = state.current
  const holder = await load(store, accountStream(account), accountDecider)
  if (holder.state.status !== 'enabled') throw new GrantRefused(INVALID)
  return { account, accountEpoch: holder.state.epoch }
}
