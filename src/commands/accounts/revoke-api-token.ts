import { revokeApiToken as decide } from '../../domain/account/account.ts'
import { changeAccount } from './change-account.ts'
import type { Writing } from '../core/handle.ts'
import type { Origin } from '../../events/origin.ts'

/**
 * @param wanted `token` is the token's id, as a list shows it
 * @throws Refusal missing
 */
export const revokeApiToken = (writing: Writing, wanted: { email: string; token: string }, origin: Origin) =>
  changeAccount(writing, wanted.email, origin, (account) => decide(account, wanted))
