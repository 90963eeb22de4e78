import type { Passwords } from '../../credentials/passwords.ts'
import { changePassword as decide, type ApiTokensFate } from '../../domain/account/account.ts'
import { changeAccount, type ChangedAccount } from './change-account.ts'
import type { Writing } from '../core/handle.ts'
import type { Origin } from '../../events/origin.ts'

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
  return changeAccount(writing, email, origin, (account) => decide(account, { password: hash, apiTokens }))
}
