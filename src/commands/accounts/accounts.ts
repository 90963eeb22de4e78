import {
  accountDecider,
  accountStream,
  register,
  type Account,
  type AccountEvent,
  type ApiTokensFate,
  type Plan,
  type RegisteredAccount,
} from '../../domain/account/account.ts'
import type { Passwords } from '../../credentials/passwords.ts'
import * as domain from '../../domain/account/account.ts'
import { loginDecider, reserveLogin } from '../../domain/account/login.ts'
import { Refusal } from '../../domain/decider.ts'
import { isUndecodable } from '../../events/decode.ts'
import type { Origin } from '../../events/origin.ts'
import type { EventStore } from '../../stores/ports/event-store.ts'
import { handle, type Writing } from '../core/handle.ts'
import { load } from '../../events/load.ts'
import type { IdBlocks } from '../installation/integer-ids.ts'
import type { People } from './people.ts'

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

/**
 * Whether the log has the account, and has not forgotten who it was. What can't be understood here is left to a release
 * that does.
 */
export async function hasPerson(store: Pick<EventStore, 'read'>, account: number): Promise<boolean> {
  try {
    const { state } = await load(store, accountStream(account), accountDecider)
    return state.status !== 'unknown' && state.status !== 'forgotten'
  } catch (error) {
    if (isUndecodable(error)) return true
    throw error
  }
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

export type Registering = Accounts & {
  readonly passwords: Pick<Passwords, 'hash'>
  readonly accountIds: Pick<IdBlocks, 'take'>
}

export type Registration = { readonly email: string; readonly password: string; readonly plan: Plan }

/**
 * Makes an account. The log-in name is reserved first, with the account's id: where an earlier try died right after
 * that, this one finds the reservation and finishes it. The address is put beside the log before the log has the account:
 * what dies in between leaves a row that nobody asks for, and that goes with the sweeper.
 * @throws Refusal conflict when the name is taken, invalid for an address or a password that can't be used
 */
export async function registerAccount(
  registering: Registering,
  { email, password, plan }: Registration,
  origin: Origin,
): Promise<{ account: number; email: string }> {
  const wanted = { email, password: await registering.passwords.hash(password), plan }
  register(accountDecider.initialState, wanted)
  const account = await reserve(registering, email, origin)
  const stream = accountStream(account)
  // Whose the name is already keeps the address that was given then.
  register((await load(registering.store, stream, accountDecider)).state, wanted)
  await registering.people.keep(account, email)
  await handle(registering, { stream, origin }, accountDecider, (state) => register(state, wanted))
  return { account, email }
}

async function reserve(registering: Registering, email: string, origin: Origin): Promise<number> {
  const { people, accountIds } = registering
  const login = await people.login(email)
  if (login !== undefined) return login.account
  const [account, stream] = [await accountIds.take(), await people.loginStream(email)]
  const { state } = await handle(registering, { stream, origin }, loginDecider, (free) =>
    reserveLogin(free, { account }),
  )
  return state.status === 'reserved' ? state.account : account
}

/**
 * The account has a new password, and its tokens end; its API tokens where they are not kept.
 * @throws Refusal missing, or invalid for a password that can't be used
 */
export async function changePassword(
  accounts: Accounts & { readonly passwords: Pick<Passwords, 'hash'> },
  { email, password, apiTokens }: { email: string; password: string; apiTokens: ApiTokensFate },
  origin: Origin,
): Promise<ChangedAccount> {
  const hash = await accounts.passwords.hash(password)
  return changeAccount(accounts, email, origin, (state) => domain.changePassword(state, { password: hash, apiTokens }))
}

/** @throws Refusal missing */
export const changePlan = (accounts: Accounts, { email, plan }: { email: string; plan: Plan }, origin: Origin) =>
  changeAccount(accounts, email, origin, (state) => domain.changePlan(state, { plan }))

/** Nobody logs in to the account any more, and its tokens end; its API tokens where they are not kept. @throws Refusal missing */
export const disableAccount = (
  accounts: Accounts,
  { email, apiTokens }: { email: string; apiTokens: ApiTokensFate },
  origin: Origin,
) => changeAccount(accounts, email, origin, (state) => domain.disable(state, { apiTokens }))

/** The account can be logged in to again; tokens that ended stay ended. @throws Refusal missing */
export const enableAccount = (accounts: Accounts, email: string, origin: Origin) =>
  changeAccount(accounts, email, origin, domain.enable)
