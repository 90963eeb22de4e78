import type { Passwords } from '../../credentials/passwords.ts'
import { register, type Plan } from '../../domain/account/account.ts'
import { reserveLogin } from '../../domain/account/login.ts'
import { handle, type Writing } from '../core/handle.ts'
import type { IdBlocks } from '../installation/integer-ids.ts'
import { accountFold, accountStream, loginFold, loginStream } from './accounts.ts'
import type { Origin } from '../../events/origin.ts'

export type Registering = Writing & {
  readonly passwords: Pick<Passwords, 'hash'>
  readonly accountIds: Pick<IdBlocks, 'take'>
}

export type Registration = { readonly email: string; readonly password: string; readonly plan: Plan }

/**
 * Makes an account. The log-in name is reserved first, with the account's id: where an earlier try died right after
 * that, this one finds the reservation and finishes it.
 * @throws Refusal conflict when the name is taken, invalid for an address or a password that can't be used
 */
export async function registerAccount(
  registering: Registering,
  { email, password, plan }: Registration,
  origin: Origin,
): Promise<{ account: number; email: string }> {
  const wanted = { email, password: await registering.passwords.hash(password), plan }
  register(accountFold.initial, wanted)
  const account = await reserve(registering, email, origin)
  const wish = { stream: accountStream(account), origin }
  await handle(registering, wish, accountFold, (state) => register(state, wanted))
  return { account, email }
}

async function reserve(registering: Registering, email: string, origin: Origin): Promise<number> {
  const account = await registering.accountIds.take()
  const wish = { stream: loginStream(email), origin }
  const { state } = await handle(registering, wish, loginFold, (login) => reserveLogin(login, { account, email }))
  return state.status === 'reserved' ? state.account : account
}
