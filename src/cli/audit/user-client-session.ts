import {
  accountFold,
  accountStream,
  parseAccountNumber,
  type Account,
  type AccountEvent,
  type ApiTokenUsed,
} from '../../domain/account/account.ts'
import type { AccountDirectory } from '../../commands/accounts/account-directory.ts'
import { clientFold, clientStream, type Client, type ClientEvent } from '../../domain/client/client.ts'
import { parseRefreshToken, sessionStream } from '../../commands/sessions/sessions.ts'
import type { LoginEvent } from '../../domain/account/login.ts'
import { RequestError } from '../../domain/request-error.ts'
import { sessionFold, type Session, type SessionEvent } from '../../domain/session/session.ts'
import { formatTime } from '../../representations/json.ts'
import { ActorResolver } from '../../projections/history/actor-resolver.ts'
import { comparePositions, type EventStore, type StoredEvent } from '../../stores/ports/event-store.ts'
import { ACCOUNT } from '../user.ts'
import { foldHistory, type AuditSubject, type AuditPresenter } from './subject.ts'

/** Display names of an account and a client. */
type ActorNameLookup = (ids: {
  readonly account: number
  readonly client: string
}) => Promise<{ account: string; client: string }>

/** Presents the events of a session, without token digests and address fingerprints. */
export const createSessionPresenter = (names: ActorNameLookup): AuditPresenter<Session, SessionEvent> => ({
  ...sessionFold,
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
    refreshTokenEnds: current === undefined ? null : formatTime(current.expiresAt),
  }
}

async function sessionDetail(event: SessionEvent, names: ActorNameLookup): Promise<string> {
  switch (event.type) {
    case 'SessionOpened': {
      const { account, client } = await names(event.data)
      return `${account} through the client ${client}`
    }
    case 'RefreshReused':
      return 'a used refresh token was presented again: it may have been stolen'
    case 'SessionRevoked':
      return event.data.reason === 'reuse' ? 'because a refresh token was reused' : 'on request'
    case 'AccessTokenRevoked':
      return `access token of rotation ${event.data.number}`
    default:
      return ''
  }
}

export const createActorNameLookup =
  (actorResolver: ActorResolver): ActorNameLookup =>
  async ({ account, client }) => {
    const actor = await actorResolver.actorOf({ metadata: { actor: `account-${account}`, via: 'http', client } })
    return { account: actor?.account ?? `account-${account}`, client: actor?.client ?? client }
  }

/** `audit session ID`. */
export const auditSession: AuditSubject = {
  name: 'session',
  description: 'Show the history of a session: log-in, token refreshes and revocation',
  idDescription: 'Session id, from events or the security log, or one of its refresh tokens',
  example: 'a6878594024cc1ac45c65d209453e787',
  async loadHistory({ store, people }, id) {
    const session = parseRefreshToken(id)?.session ?? id.replace(/^session-/, '')
    const events = await store.readStream(sessionStream(session))
    // Does not quote the id, which may be a token.
    if (events.length === 0) throw new RequestError('missing', 'No session with this id has ever existed')
    const actorResolver = new ActorResolver(store, people)
    return foldHistory(events, createSessionPresenter(createActorNameLookup(actorResolver)), actorResolver)
  },
}

/** Presents the events of an OAuth client. */
export const clientPresenter: AuditPresenter<Client, ClientEvent> = {
  ...clientFold,
  describeState: (client) => (client.status === 'unknown' ? null : { name: client.name, status: client.status }),
  eventLabels: {
    ClientRegistered: 'registered',
    ClientSecretRotated: 'secret rotated',
    ClientDisabled: 'disabled',
    ClientEnabled: 'enabled',
  },
  detail: ({ type }) => CLIENT_EVENT_DETAILS[type] ?? '',
}

const CLIENT_EVENT_DETAILS: Readonly<Record<string, string>> = {
  ClientSecretRotated: 'the previous secret is rejected',
  ClientDisabled: 'its tokens are revoked',
}

/** `audit client ID`. */
export const auditClient: AuditSubject = {
  name: 'client',
  description: 'Show the history of an OAuth client: registration, secret rotation, disabling and enabling',
  idDescription: 'Client id, from `client list`',
  example: '1_4x0kv3vtvosgkwgw8owg8wcw4',
  async loadHistory({ store, people }, id) {
    const events = await store.readStream(clientStream(id.replace(/^client-/, '')))
    if (events.length === 0) throw new RequestError('missing', `No client ${id.slice(0, 80)} has ever existed`)
    return foldHistory(events, clientPresenter, new ActorResolver(store, people))
  },
}

type UserEvent = AccountEvent | ApiTokenUsed | LoginEvent | SessionEvent

/**
 * Presents the events of an account, its API tokens and its log-ins, without hashes.
 * @param address e-mail address, if all events belong to one account and it is known
 */
export function createUserPresenter(
  actorResolver: ActorResolver,
  address?: string,
): AuditPresenter<Account, UserEvent> {
  const sessionPresenter = createSessionPresenter(createActorNameLookup(actorResolver))
  return {
    initialState: accountFold.initialState,
    // Only the account's own events change its state.
    evolve: (account, event) => accountFold.evolve(account, event as AccountEvent),
    describeState: (account) => describeAccount(account, address),
    eventLabels: { ...USER_EVENT_LABELS, ...sessionPresenter.eventLabels },
    detail: (event, stored) =>
      stored.stream.startsWith('session-')
        ? (sessionPresenter.detail?.(event as SessionEvent, stored) ?? '')
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
    issued: formatTime(at),
    ends: expiresAt === undefined ? null : formatTime(expiresAt),
  }))
  return { email: email ?? address ?? null, plan, status, apiTokens: tokens }
}

function userEventDetail(event: UserEvent): string {
  switch (event.type) {
    case 'LoginReserved':
      return event.data.email ?? ''
    case 'PasswordChanged':
    case 'AccountDisabled':
      return 'its tokens are revoked'
    case 'AccountForgotten':
      return 'its e-mail address was deleted'
    default:
      return ''
  }
}

/** `audit user ID`. */
export const auditUser: AuditSubject = {
  name: 'user',
  description: 'Show the history of an account: changes, log-ins and API tokens',
  idDescription: ACCOUNT,
  example: 'jane@example.com',
  async loadHistory({ store, people }, id) {
    const account = await resolveAccountId(people, id)
    const events = await loadAccountEvents(store, account)
    if (events.length === 0) throw new RequestError('missing', `No account ${id.slice(0, 254)} has ever existed`)
    const actorResolver = new ActorResolver(store, people)
    const name = await actorResolver.accountNameOf(account)
    const address = name === accountStream(account) ? undefined : name
    return foldHistory(events, createUserPresenter(actorResolver, address), actorResolver)
  },
}

/**
 * @throws RequestError 'missing' for an address without an account; UnsupportedEventVersion, InvalidEventPayload if the log-in
 *   events of an address cannot be decoded. A number always works.
 */
async function resolveAccountId(people: AccountDirectory, id: string): Promise<number> {
  const account = parseAccountNumber(id) ?? (await people.findLogin(id))?.account
  if (account === undefined) throw await people.noAccountError(id)
  return account
}

/** All events of an account, in log order. Finding its log-ins and sessions requires reading those of all accounts. */
async function loadAccountEvents(store: EventStore, account: number): Promise<StoredEvent[]> {
  const accountEvents = await store.readStream(accountStream(account))
  const relatedEvents = accountEvents.length === 0 ? [] : await loadRelatedEvents(store, account)
  return [...accountEvents, ...relatedEvents].sort((a, b) => comparePositions(a.position, b.position))
}

async function loadRelatedEvents(store: EventStore, account: number): Promise<StoredEvent[]> {
  const actor = accountStream(account)
  const sessions = new Set<string>()
  const relatedEvents: StoredEvent[] = []
  for await (const event of store.readAll('start', { prefixes: ['login-', `apitoken-${account}-`, 'session-'] })) {
    const { stream, type, data, metadata } = event
    const isSessionEvent = stream.startsWith('session-')
    const belongsToAccount = data['account'] === account || metadata['actor'] === actor
    if (isSessionEvent && belongsToAccount) sessions.add(stream)
    // Token refreshes are left out: there are too many. `audit session` shows them.
    if (
      isSessionEvent
        ? sessions.has(stream) && type !== 'TokenRefreshed'
        : !stream.startsWith('login-') || belongsToAccount
    ) {
      relatedEvents.push(event)
    }
  }
  return relatedEvents
}
