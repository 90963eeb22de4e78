import { revokeApiToken as decide } from '../domain/account.ts'
import { changeAccount } from './change-account.ts'
import type { Writing } from './handle.ts'
import type { Origin } from './origin.ts'

/**
 * @param wanted `token` is the token's id, as a list shows it
 * @throws Refusal missing
 */
export const revokeApiToken = (writing: Writing, wanted: { email: string; token: string }, origin: Origin) =>
  changeAccount(writing, wanted.email, origin, (account) => decide(account, wanted))
