import type { Passwords } from '../../credentials/passwords.ts'
import * as domain from '../../domain/account/account.ts'
import type { ApiTokensFate, Plan } from '../../domain/account/account.ts'
import type { Origin } from '../../events/origin.ts'
import type { Writing } from '../core/handle.ts'
import { changeAccount, type ChangedAccount } from './accounts.ts'

/**
 * The account has a new password, and its tokens end; its API tokens where they are not kept.
 * @throws Refusal missing, or invalid for a password that can't be used
 */
export async function changePassword(
  writing: Writing & { readonly passwords: Pick<Passwords, 'hash'> },
  { email, password, apiTokens }: { email: string; password: string; apiTokens: ApiTokensFate },
  origin: Origin,
): Promise<ChangedAccount> {
  const hash = await writing.passwords.hash(password)
  return changeAccount(writing, email, origin, (state) => domain.changePassword(state, { password: hash, apiTokens }))
}

/** @throws Refusal missing */
export const changePlan = (writing: Writing, { email, plan }: { email: string; plan: Plan }, origin: Origin) =>
  changeAccount(writing, email, origin, (state) => domain.changePlan(state, { plan }))

/** Nobody logs in to the account any more, and its tokens end; its API tokens where they are not kept. @throws Refusal missing */
export const disableAccount = (
  writing: Writing,
  { email, apiTokens }: { email: string; apiTokens: ApiTokensFate },
  origin: Origin,
) => changeAccount(writing, email, origin, (state) => domain.disable(state, { apiTokens }))

/** The account can be logged in to again; tokens that ended stay ended. @throws Refusal missing */
export const enableAccount = (writing: Writing, email: string, origin: Origin) =>
  changeAccount(writing, email, origin, domain.enable)
