import {
  accountDecider,
  type Account,
  type AccountEvent,
  type RegisteredAccount,
} from '../../domain/account/account.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { Origin } from '../../events/origin.ts'
import type { EventStore } from '../../stores/ports/event-store.ts'
import { handle, type Writing } from '../core/handle.ts'
import { load } from '../core/load.ts'
import type { People } from './people.ts'

export const accountStream = (account: number) => `account-${account}`

export type Known = RegisteredAccount & { readonly account: number }

/** What accounts are found with. */
export type Finding = { readonly store: EventStore; readonly people: People }

/** What accounts are changed with. */
export type Accounts = Writing & { readonly people: People }

/** The account that a log-in name belongs to; undefined when nobody has it, or its registration was not finished. */
export async function findAccount({ store, people }: Finding, email: string): Promise<Known | undefined> {
  const login = await people.login(email)
  if (login === undefined) return undefined
  const { state } = await load(store, accountStream(login.account), accountDecider)
  return state.status === 'unknown' ? undefined : { account: login.account, ...state }
}

/** @throws Refusal missing */
export async function accountOf(finding: Finding, email: string): Promise<Known> {
  const known = await findAccount(finding, email)
  if (known === undefined) throw new Refusal('missing', `There is no account ${email.slice(0, 254)}`)
  return known
}

/** `email` as it was registered, or what stands in its place. */
export type ChangedAccount = { readonly account: number; readonly email: string }

/** @throws Refusal missing, and what `decide` throws */
export async function changeAccount(
  accounts: Accounts,
  email: string,
  origin: Origin,
  decide: (account: Account, now: number) => AccountEvent[],
): Promise<ChangedAccount> {
  const known = await accountOf(accounts, email)
  const wish = { stream: accountStream(known.account), origin }
  const { state } = await handle(accounts, wish, accountDecider, decide)
  return { account: known.account, email: await accounts.people.shownAs(known.account, state) }
}
