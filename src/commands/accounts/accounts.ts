import {
  accountDecider,
  accountStream,
  register,
  type Account,
  type AccountEvent,
  type ApiTokenHandling,
  type Plan,
  type RegisteredAccount,
} from '../../domain/account/account.ts'
import type { PasswordHasher } from '../../credentials/password-hasher.ts'
import * as domain from '../../domain/account/account.ts'
import { loginDecider, reserveLogin } from '../../domain/account/login.ts'
import { RequestError } from '../../domain/decider.ts'
import { isDecodeError } from '../../events/decode.ts'
import type { Origin } from '../../events/event-metadata.ts'
import type { EventStore } from '../../stores/ports/event-store.ts'
import { handle, type CommandContext } from '../core/handle.ts'
import { loadStream } from '../../events/load-stream.ts'
import type { IdAllocator } from '../installation/id-allocator.ts'
import type { AccountDirectory } from './account-directory.ts'

export type AccountWithId = RegisteredAccount & { readonly account: number }

/** What accounts are found with. */
export type AccountLookupContext = { readonly store: EventStore; readonly people: AccountDirectory }

/** What accounts are changed with. */
export type AccountCommandContext = CommandContext & { readonly people: AccountDirectory }

/** The account that a log-in name belongs to; undefined when nobody has it, or its registration was not finished. */
export async function findAccount(
  { store, people }: AccountLookupContext,
  email: string,
): Promise<AccountWithId | undefined> {
  const login = await people.findLogin(email)
  if (login === undefined) return undefined
  const { state } = await loadStream(store, accountStream(login.account), accountDecider)
  return state.status === 'unknown' ? undefined : { account: login.account, ...state }
}

/** @throws Refusal missing */
export async function requireAccount(context: AccountLookupContext, email: string): Promise<AccountWithId> {
  const known = await findAccount(context, email)
  if (known === undefined) throw new RequestError('missing', `There is no account ${email.slice(0, 254)}`)
  return known
}

/**
 * Whether the log has the account, and has not forgotten who it was. What can't be understood here is left to a release
 * that does.
 */
export async function hasPerson(store: Pick<EventStore, 'read'>, account: number): Promise<boolean> {
  try {
    const { state } = await loadStream(store, accountStream(account), accountDecider)
    return state.status !== 'unknown' && state.status !== 'forgotten'
  } catch (error) {
    if (isDecodeError(error)) return true
    throw error
  }
}

/** `email` as it was registered, or what stands in its place. */
export type ChangedAccount = { readonly account: number; readonly email: string }

/** @throws Refusal missing, and what `decide` throws */
export async function changeAccount(
  accounts: AccountCommandContext,
  email: string,
  origin: Origin,
  decide: (account: Account, now: number) => AccountEvent[],
): Promise<ChangedAccount> {
  const known = await requireAccount(accounts, email)
  const wish = { stream: accountStream(known.account), origin }
  const { state } = await handle(accounts, wish, accountDecider, decide)
  return { account: known.account, email: await accounts.people.displayNameOf(known.account, state) }
}

export type RegistrationContext = AccountCommandContext & {
  readonly passwords: Pick<PasswordHasher, 'hash'>
  readonly accountIds: Pick<IdAllocator, 'take'>
}

export type Registration = { readonly email: string; readonly password: string; readonly plan: Plan }

/**
 * Makes an account. The log-in name is reserved first, with the account's id: where an earlier try died right after
 * that, this one finds the reservation and finishes it. The address is put beside the log before the log has the account:
 * what dies in between leaves a row that nobody asks for, and that goes with the sweeper.
 * @throws Refusal conflict when the name is taken, invalid for an address or a password that can't be used
 */
export async function registerAccount(
  context: RegistrationContext,
  { email, password, plan }: Registration,
  origin: Origin,
): Promise<{ account: number; email: string }> {
  const wanted = { email, password: await context.passwords.hash(password), plan }
  register(accountDecider.initialState, wanted)
  const account = await reserveLoginName(context, email, origin)
  const stream = accountStream(account)
  // Whose the name is already keeps the address that was given then.
  register((await loadStream(context.store, stream, accountDecider)).state, wanted)
  await context.people.storeEmail(account, email)
  await handle(context, { stream, origin }, accountDecider, (state) => register(state, wanted))
  return { account, email }
}

async function reserveLoginName(context: RegistrationContext, email: string, origin: Origin): Promise<number> {
  const { people, accountIds } = context
  const login = await people.findLogin(email)
  if (login !== undefined) return login.account
  const [account, stream] = [await accountIds.take(), await people.loginStreamOf(email)]
  const { state } = await handle(context, { stream, origin }, loginDecider, (free) => reserveLogin(free, { account }))
  return state.status === 'reserved' ? state.account : account
}

/**
 * The account has a new password, and its tokens end; its API tokens where they are not kept.
 * @throws Refusal missing, or invalid for a password that can't be used
 */
export async function changePassword(
  accounts: AccountCommandContext & { readonly passwords: Pick<PasswordHasher, 'hash'> },
  { email, password, apiTokens }: { email: string; password: string; apiTokens: ApiTokenHandling },
  origin: Origin,
): Promise<ChangedAccount> {
  const hash = await accounts.passwords.hash(password)
  return changeAccount(accounts, email, origin, (state) => domain.changePassword(state, { password: hash, apiTokens }))
}

/** @throws Refusal missing */
export const changePlan = (
  accounts: AccountCommandContext,
  { email, plan }: { email: string; plan: Plan },
  origin: Origin,
) => changeAccount(accounts, email, origin, (state) => domain.changePlan(state, { plan }))

/** Nobody logs in to the account any more, and its tokens end; its API tokens where they are not kept. @throws Refusal missing */
export const disableAccount = (
  accounts: AccountCommandContext,
  { email, apiTokens }: { email: string; apiTokens: ApiTokenHandling },
  origin: Origin,
) => changeAccount(accounts, email, origin, (state) => domain.disable(state, { apiTokens }))

/** The account can be logged in to again; tokens that ended stay ended. @throws Refusal missing */
export const enableAccount = (accounts: AccountCommandContext, email: string, origin: Origin) =>
  changeAccount(accounts, email, origin, domain.enable)
