import {
  accountDecider,
  accountStream,
  type Account,
  type AccountEvent,
  type ApiTokenUsed,
} from '../../domain/account/account.ts'
import type { AccountDirectory } from '../../commands/accounts/account-directory.ts'
import { clientDecider, clientStream, type Client, type ClientEvent } from '../../domain/client/client.ts'
import { parseRefreshToken, sessionStream } from '../../commands/sessions/sessions.ts'
import type { LoginEvent } from '../../domain/account/login.ts'
import { RequestError } from '../../domain/decider.ts'
import { sessionDecider, type Session, type SessionEvent } from '../../domain/session/session.ts'
import { formatSeconds } from '../../projections/history/history-entry.ts'
import { ActorResolver } from '../../projections/history/actor-resolver.ts'
import { comparePositions, type EventStore, type StoredEvent } from '../../stores/ports/event-store.ts'
import { foldHistory, type AuditSubject, type AuditPresenter } from './subject.ts'

/** Names of accounts and clients, as people know them. */
type ActorNameLookup = (of: {
  readonly account: number
  readonly client: string
}) => Promise<{ account: string; client: string }>

/** The events of a session. A refresh token's digest and the mark of an address are nobody's business. */
export const createSessionPresenter = (names: ActorNameLookup): AuditPresenter<Session, SessionEvent> => ({
  ...sessionDecider,
  describeState: describeSession,
  eventLabels: {
    SessionOpened: 'logged in',
    TokenRefreshed: 'refreshed',
    RefreshReused: 'refresh token reused',
    SessionRevoked: 'ended',
    AccessTokenRevoked: 'access token ended',
  },
  detail: (event) => sessionDetail(event, names),
})

function describeSession(session: Session) {
  if (session.status === 'unknown') return null
  const { current } = session
  return {
    status: session.status === 'open' ? 'open' : 'ended',
    rotations: current?.number ?? null,
    refreshTokenEnds: current === undefined ? null : formatSeconds(Math.floor(current.expiresAt / 1000)),
  }
}

async function sessionDetail(event: SessionEvent, names: ActorNameLookup): Promise<string> {
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
export const createActorNameLookup =
  (who: ActorResolver): ActorNameLookup =>
  async ({ account, client }) => {
    const by = await who.actorOf({ metadata: { actor: `account-${account}`, via: 'http', client } })
    return { account: by?.account ?? `account-${account}`, client: by?.client ?? client }
  }

/** `audit session ID`. */
export const auditSession: AuditSubject = {
  name: 'session',
  description: 'tell what happened to a log-in and its tokens: who opened, refreshed and ended it, and when',
  idDescription: 'its id, as events and the security log name it, or one of its refresh tokens',
  example: 'a6878594024cc1ac45c65d209453e787',
  async loadHistory({ store, people }, id) {
    const session = parseRefreshToken(id)?.session ?? id.replace(/^session-/, '')
    const events = await store.read(sessionStream(session))
    // What was given may be a token: it is not repeated.
    if (events.length === 0) throw new RequestError('missing', 'There is no session of this id, and there never was')
    const who = new ActorResolver(store, people)
    return foldHistory(events, createSessionPresenter(createActorNameLookup(who)), who)
  },
}

/** An OAuth client's events. */
export const clientPresenter: AuditPresenter<Client, ClientEvent> = {
  ...clientDecider,
  describeState: (client) => (client.status === 'unknown' ? null : { name: client.name, status: client.status }),
  eventLabels: {
    ClientRegistered: 'registered',
    ClientSecretRotated: 'secret rotated',
    ClientDisabled: 'disabled',
    ClientEnabled: 'enabled',
  },
  detail: ({ type }) => DETAILS[type] ?? '',
}

const DETAILS: Readonly<Record<string, string>> = {
  ClientSecretRotated: 'the former secret is refused',
  ClientDisabled: 'its tokens have ended',
}

/** `audit client ID`. */
export const auditClient: AuditSubject = {
  name: 'client',
  description: 'tell what happened to an OAuth client: who registered, rotated, disabled and enabled it, and when',
  idDescription: 'its id, as `client list` shows it',
  example: '1_4x0kv3vtvosgkwgw8owg8wcw4',
  async loadHistory({ store, people }, id) {
    const events = await store.read(clientStream(id.replace(/^client-/, '')))
    if (events.length === 0)
      throw new RequestError('missing', `There is no client ${id.slice(0, 80)}, and there never was`)
    return foldHistory(events, clientPresenter, new ActorResolver(store, people))
  },
}

type UserEvent = AccountEvent | ApiTokenUsed | LoginEvent | SessionEvent

/**
 * The events of an account, of the use of its API tokens, and of its log-ins. No hash is shown.
 * @param address of the account, where it is one account's
 */
export function createUserPresenter(who: ActorResolver, address?: string): AuditPresenter<Account, UserEvent> {
  const session = createSessionPresenter(createActorNameLookup(who))
  return {
    initialState: accountDecider.initialState,
    // An account is folded from its own events; others leave it as it is.
    evolve: (account, event) => accountDecider.evolve(account, event as AccountEvent),
    describeState: (account) => describeAccount(account, address),
    eventLabels: { ...USER_EVENT_LABELS, ...session.eventLabels },
    detail: (event, stored) =>
      stored.stream.startsWith('session-')
        ? (session.detail?.(event as SessionEvent, stored) ?? '')
        : userEventDetail(event),
  }
}

const USER_EVENT_LABELS: Readonly<Record<string, string>> = {
  LoginReserved: 'log-in name reserved',
  LoginReleased: 'log-in name free again',
  AccountRegistered: 'registered',
  PasswordChanged: 'password changed',
  PlanChanged: 'plan changed',
  AccountDisabled: 'disabled',
  AccountEnabled: 'enabled',
  AccountForgotten: 'forgotten',
  ApiTokenIssued: 'API token issued',
  ApiTokenRevoked: 'API token ended',
  ApiTokenUsed: 'API token used',
}

function describeAccount(account: Account, address: string | undefined) {
  if (account.status === 'unknown') return null
  const { email, plan, status, apiTokens } = account
  const tokens = apiTokens.map(({ token, at, expiresAt }) => ({
    id: token,
    issued: timeText(at),
    ends: expiresAt === undefined ? null : timeText(expiresAt),
  }))
  return { email: email ?? address ?? null, plan, status, apiTokens: tokens }
}

const timeText = (ms: number) => formatSeconds(Math.floor(ms / 1000))

function userEventDetail(event: UserEvent): string {
  switch (event.type) {
    case 'LoginReserved':
      return event.data.email ?? ''
    case 'PasswordChanged':
    case 'AccountDisabled':
      return 'its tokens have ended'
    default:
      return ''
  }
}

/** `audit user ID`. */
export const auditUser: AuditSubject = {
  name: 'user',
  description: 'tell what happened to an account: who registered and changed it, its log-ins and its API tokens',
  idDescription: 'its e-mail address, or its number, such as 7',
  example: 'jane@example.com',
  async loadHistory({ store, people }, id) {
    const account = await resolveAccountId(people, id)
    const events = account === undefined ? [] : await loadAccountEvents(store, account)
    if (account === undefined || events.length === 0)
      throw new RequestError('missing', `There is no account ${id.slice(0, 254)}, and there never was`)
    const who = new ActorResolver(store, people)
    return foldHistory(events, createUserPresenter(who, await who.accountNameOf(account)), who)
  },
}

/** @throws NewerSchema, BrokenEvent where the log-in name of an address can't be understood: its number goes always */
async function resolveAccountId(people: AccountDirectory, id: string): Promise<number | undefined> {
  const number = Number(/^(?:account-)?([1-9]\d{0,15})$/.exec(id)?.[1] ?? NaN)
  if (Number.isSafeInteger(number)) return number
  return (await people.findLogin(id))?.account
}

/** All that is an account's, in the order of the log. Which log-ins are its own only all of them tell. */
async function loadAccountEvents(store: EventStore, account: number): Promise<StoredEvent[]> {
  const own = await store.read(accountStream(account))
  const found = own.length === 0 ? [] : await loadRelatedEvents(store, account)
  return [...own, ...found].sort((a, b) => comparePositions(a.position, b.position))
}

async function loadRelatedEvents(store: EventStore, account: number): Promise<StoredEvent[]> {
  const actor = accountStream(account)
  const sessions = new Set<string>()
  const found: StoredEvent[] = []
  for await (const event of store.readAll('start', { prefixes: ['login-', `apitoken-${account}-`, 'session-'] })) {
    const { stream, type, data, metadata } = event
    const isOfSession = stream.startsWith('session-')
    const isIts = data['account'] === account || metadata['actor'] === actor
    if (isOfSession && isIts) sessions.add(stream)
    // Every rotation of every session would bury the rest; `audit session` tells them.
    if (isOfSession ? sessions.has(stream) && type !== 'TokenRefreshed' : !stream.startsWith('login-') || isIts) {
      found.push(event)
    }
  }
  return found
}
