import type { Passwords } from '../../credentials/passwords.ts'
import * as domain from '../../domain/account/account.ts'
import type { ApiTokensFate, Plan } from '../../domain/account/account.ts'
import type { Origin } from '../../events/origin.ts'
import { changeAccount, type Accounts, type ChangedAccount } from './accounts.ts'

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
