import { accountDecider, type Account, type AccountEvent } from '../../domain/account/account.ts'
import { accountStream } from '../../commands/accounts/accounts.ts'
import type { People } from '../../commands/accounts/people.ts'
import type { ApiTokenUsed } from '../../domain/account/api-token-use.ts'
import type { LoginEvent } from '../../domain/account/login.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { SessionEvent } from '../../domain/session/session.ts'
import { shownSeconds } from '../../projections/history/entry.ts'
import { Who } from '../../projections/history/who.ts'
import { comparePositions, type EventStore, type StoredEvent } from '../../stores/ports/event-store.ts'
import { foldedPast, type Telling } from './folded.ts'
import { namesBy, sessionTelling } from './session.ts'
import type { Subject } from './subject.ts'

type UserEvent = AccountEvent | ApiTokenUsed | LoginEvent | SessionEvent

/**
 * The events of an account, of the use of its API tokens, and of its log-ins. No hash is shown.
 * @param address of the account, where it is one account's
 */
export function userTelling(who: Who, address?: string): Telling<Account, UserEvent> {
  const session = sessionTelling(namesBy(who))
  return {
    initialState: accountDecider.initialState,
    // An account is folded from its own events; others leave it as it is.
    evolve: (account, event) => accountDecider.evolve(account, event as AccountEvent),
    shown: (account) => shownAccount(account, address),
    words: { ...WORDS, ...session.words },
    detail: (event, stored) =>
      stored.stream.startsWith('session-') ? (session.detail?.(event as SessionEvent, stored) ?? '') : detailOf(event),
  }
}

const WORDS: Readonly<Record<string, string>> = {
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

function shownAccount(account: Account, address: string | undefined) {
  if (account.status === 'unknown') return null
  const { email, plan, status, apiTokens } = account
  const tokens = apiTokens.map(({ token, at, expiresAt }) => ({
    id: token,
    issued: timeText(at),
    ends: expiresAt === undefined ? null : timeText(expiresAt),
  }))
  return { email: email ?? address ?? null, plan, status, apiTokens: tokens }
}

const timeText = (ms: number) => shownSeconds(Math.floor(ms / 1000))

function detailOf(event: UserEvent): string {
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
export const auditUser: Subject = {
  name: 'user',
  about: 'tell what happened to an account: who registered and changed it, its log-ins and its API tokens',
  id: 'its e-mail address, or its number, such as 7',
  example: 'jane@example.com',
  async past({ store, people }, id) {
    const account = await accountOf(people, id)
    const events = account === undefined ? [] : await eventsOf(store, account)
    if (account === undefined || events.length === 0)
      throw new Refusal('missing', `There is no account ${id.slice(0, 254)}, and there never was`)
    const who = new Who(store, people)
    return foldedPast(events, userTelling(who, await who.ofAccount(account)), who)
  },
}

/** @throws NewerSchema, BrokenEvent where the log-in name of an address can't be understood: its number goes always */
async function accountOf(people: People, id: string): Promise<number | undefined> {
  const number = Number(/^(?:account-)?([1-9]\d{0,15})$/.exec(id)?.[1] ?? NaN)
  if (Number.isSafeInteger(number)) return number
  return (await people.login(id))?.account
}

/** All that is an account's, in the order of the log. Which log-ins are its own only all of them tell. */
async function eventsOf(store: EventStore, account: number): Promise<StoredEvent[]> {
  const own = await store.read(accountStream(account))
  const found = own.length === 0 ? [] : await othersOf(store, account)
  return [...own, ...found].sort((a, b) => comparePositions(a.position, b.position))
}

async function othersOf(store: EventStore, account: number): Promise<StoredEvent[]> {
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
