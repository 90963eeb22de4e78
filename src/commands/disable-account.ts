import { disable } from '../domain/account.ts'
import type { Writing } from './handle.ts'
import { changeAccount } from './change-account.ts'
import type { Origin } from './origin.ts'

/** Nobody logs in to the account any more, and its tokens end. @throws Refusal missing */
export const disableAccount = (writing: Writing, email: string, origin: Origin) =>
  changeAccount(writing, email, origin, disable)
