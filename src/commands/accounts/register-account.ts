import { loginDecider, reserveLogin } from '../../domain/account/login.ts'
import { accountDecider, register, type Plan } from '../../domain/account/account.ts'
import type { Passwords } from '../../credentials/passwords.ts'
import { handle } from '../core/handle.ts'
import { load } from '../core/load.ts'
import type { IdBlocks } from '../installation/integer-ids.ts'
import { accountStream, type Accounts } from './accounts.ts'
import type { Origin } from '../../events/origin.ts'

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
