import type { Account, AccountEvent } from '../../domain/account/account.ts'
import { handle, type Writing } from '../core/handle.ts'
import { accountFold, accountOf, accountStream } from './logins.ts'
import type { Origin } from '../../events/origin.ts'

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
