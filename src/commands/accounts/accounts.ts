import {
  accountFold,
  accountStream,
  parseAccountNumber,
  register,
  type Account,
  type AccountEvent,
  type ApiTokenHandling,
  type Plan,
  type RegisteredAccount,
} from '../../domain/account/account.ts'
import type { PasswordHasher } from '../../credentials/password-hasher.ts'
import * as domain from '../../domain/account/account.ts'
import { loginFold, reserveLogin } from '../../domain/account/login.ts'
import { RequestError } from '../../domain/request-error.ts'
import { isDecodeError } from '../../events/decode.ts'
import type { Origin } from '../../events/event-metadata.ts'
import type { EventStore } from '../../stores/ports/event-store.ts'
import { handle } from '../core/handle.ts'
import type { CommandContext } from '../core/command-context.ts'
import { loadStream } from '../../events/load-stream.ts'
import type { IdAllocator } from '../installation/id-allocator.ts'
import type { AccountDirectory } from './account-directory.ts'

export type AccountWithId = RegisteredAccount & { readonly account: number }

export type AccountLookupContext = { readonly store: EventStore; readonly people: AccountDirectory }

export type AccountCommandContext = CommandContext & { readonly people: AccountDirectory }

/** Returns undefined if the login name is unknown or its registration was not completed. */
export async function findAccount(
  { store, people }: AccountLookupContext,
  email: string,
): Promise<AccountWithId | undefined> {
  const login = await people.findLogin(email)
  if (login === undefined) return undefined
  const { state } = await loadStream(store, accountStream(login.account), accountFold)
  return state.status === 'unknown' ? undefined : { account: login.account, ...state }
}

/**
 * Finds an account for an operator's command, by e-mail address or number (`7` or `account-7`).
 * @throws RequestError 'missing'
 */
export async function requireAccount(context: AccountLookupContext, emailOrNumber: string): Promise<AccountWithId> {
  const number = parseAccountNumber(emailOrNumber)
  if (number !== undefined) return requireAccountByNumber(context, number)
  const account = await findAccount(context, emailOrNumber)
  if (account === undefined) throw await context.people.noAccountError(emailOrNumber)
  return account
}

async function requireAccountByNumber({ store }: AccountLookupContext, account: number): Promise<AccountWithId> {
  const { state } = await loadStream(store, accountStream(account), accountFold)
  if (state.status === 'unknown') throw new RequestError('missing', `There is no account ${account}`)
  if (state.status === 'forgotten') throw new RequestError('missing', `Account ${account} was forgotten`)
  return { account, ...state }
}

/**
 * Whether the account exists and was not forgotten. Returns true if this release can't decode its events, so that a
 * newer release's data is kept.
 */
export async function hasPerson(store: Pick<EventStore, 'readStream'>, account: number): Promise<boolean> {
  try {
    const { state } = await loadStream(store, accountStream(account), accountFold)
    return state.status !== 'unknown' && state.status !== 'forgotten'
  } catch (error) {
    if (isDecodeError(error)) return true
    throw error
  }
}

/** `email` as registered, or `account-{number}` if the address is unavailable. */
export type ChangedAccount = { readonly account: number; readonly email: string }

/** @throws RequestError 'missing', and whatever `decide` throws */
export async function changeAccount(
  accounts: AccountCommandContext,
  email: string,
  origin: Origin,
  decide: (account: Account, now: number) => AccountEvent[],
): Promise<ChangedAccount> {
  const account = await requireAccount(accounts, email)
  const target = { stream: accountStream(account.account), origin }
  const { state } = await handle(accounts, target, accountFold, decide)
  return { account: account.account, email: await accounts.people.displayNameOf(account.account, state) }
}

export type RegistrationContext = AccountCommandContext & {
  readonly passwords: Pick<PasswordHasher, 'hash'>
  readonly accountIds: Pick<IdAllocator, 'take'>
}

type Registration = { readonly email: string; readonly password: string; readonly plan: Plan }

/**
 * Creates an account. The login name is reserved first, together with the account's id; if that attempt was
 * interrupted, the next one finds the reservation and completes it. The address is stored before the account's first
 * event is appended; the sweeper deletes it if that append never happens.
 * @throws RequestError 'conflict' if the name is taken, 'invalid' for an unacceptable address or password
 */
export async function registerAccount(
  context: RegistrationContext,
  { email, password, plan }: Registration,
  origin: Origin,
): Promise<{ account: number; email: string }> {
  const registration = { email, password: await context.passwords.hash(password), plan }
  register(accountFold.initialState, registration)
  const account = await reserveLoginName(context, email, origin)
  const stream = accountStream(account)
  // Check before storing the address: an account that exists already keeps its own.
  register((await loadStream(context.store, stream, accountFold)).state, registration)
  await context.people.storeEmail(account, email)
  await handle(context, { stream, origin }, accountFold, (state) => register(state, registration))
  return { account, email }
}

async function reserveLoginName(context: RegistrationContext, email: string, origin: Origin): Promise<number> {
  const { people, accountIds } = context
  const login = await people.findLogin(email)
  if (login !== undefined) return login.account
  const [account, stream] = [await accountIds.take(), await people.loginStreamOf(email)]
  const { state } = await handle(context, { stream, origin }, loginFold, (loginState) =>
    reserveLogin(loginState, { account }),
  )
  return state.status === 'reserved' ? state.account : account
}

/**
 * Revokes the account's sessions, and its API tokens unless `apiTokens` says to keep them.
 * @throws RequestError 'missing', or 'invalid' for an unacceptable password
 */
export async function changePassword(
  accounts: AccountCommandContext & { readonly passwords: Pick<PasswordHasher, 'hash'> },
  { email, password, apiTokens }: { email: string; password: string; apiTokens: ApiTokenHandling },
  origin: Origin,
): Promise<ChangedAccount> {
  const hash = await accounts.passwords.hash(password)
  return changeAccount(accounts, email, origin, (state) => domain.changePassword(state, { password: hash, apiTokens }))
}

export const changePlan = (
  accounts: AccountCommandContext,
  { email, plan }: { email: string; plan: Plan },
  origin: Origin,
) => changeAccount(accounts, email, origin, (state) => domain.changePlan(state, { plan }))

/**
 * Blocks logins and revokes the sessions, and the API tokens unless `apiTokens` says to keep them.
 * @throws RequestError 'missing'
 */
export const disableAccount = (
  accounts: AccountCommandContext,
  { email, apiTokens }: { email: string; apiTokens: ApiTokenHandling },
  origin: Origin,
) => changeAccount(accounts, email, origin, (state) => domain.disable(state, { apiTokens }))

/** Allows logins again; revoked tokens stay revoked. @throws RequestError 'missing' */
export const enableAccount = (accounts: AccountCommandContext, email: string, origin: Origin) =>
  changeAccount(accounts, email, origin, domain.enable)
