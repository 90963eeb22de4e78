import { createHash } from 'node:crypto'
import { evolveLogin, freeLogin, normaliseEmail, type Login, type LoginEvent } from '../../domain/account/login.ts'
import {
  evolveAccount,
  unknownAccount,
  type Account,
  type AccountEvent,
  type RegisteredAccount,
} from '../../domain/account/account.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { EventStore } from '../../stores/ports/event-store.ts'
import { load, type Fold } from '../core/load.ts'
import { handle, type Writing } from '../core/handle.ts'
import type { Origin } from '../../events/origin.ts'

export const loginFold: Fold<Login, LoginEvent> = { initial: freeLogin, evolve: evolveLogin }
export const accountFold: Fold<Account, AccountEvent> = { initial: unknownAccount, evolve: evolveAccount }

export const loginStream = (email: string) =>
  `login-${createHash('sha256').update(normaliseEmail(email)).digest('hex')}`
export const accountStream = (account: number) => `account-${account}`

export type Known = RegisteredAccount & { readonly account: number }

/** The account that a log-in name belongs to; undefined when nobody has it, or its registration was not finished. */
export async function findAccount(store: EventStore, email: string): Promise<Known | undefined> {
  const login = await load(store, loginStream(email), loginFold)
  if (login.state.status === 'free') return undefined
  const { state } = await load(store, accountStream(login.state.account), accountFold)
  return state.status === 'unknown' ? undefined : { account: login.state.account, ...state }
}

/** @throws Refusal missing */
export async function accountOf(store: EventStore, email: string): Promise<Known> {
  const known = await findAccount(store, email)
  if (known === undefined) throw new Refusal('missing', `There is no account ${email.slice(0, 254)}`)
  return known
}

export type ChangedAccount = { readonly account: number; readonly email: string }

/** @throws Refusal missing, and what `decide` throws */
export async function changeAccount(
  writing: Writing,
  email: string,
  origin: Origin,
  decide: (account: Account, now: number) => AccountEvent[],
): Promise<ChangedAccount> {
  const known = await accountOf(writing.store, email)
  const wish = { stream: accountStream(known.account), origin }
  await handle(writing, wish, accountFold, decide)
  return { account: known.account, email: known.email }
}
