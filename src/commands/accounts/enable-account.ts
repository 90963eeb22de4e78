import { enable } from '../../domain/account/account.ts'
import type { Writing } from '../core/handle.ts'
import { changeAccount } from './change-account.ts'
import type { Origin } from '../../events/origin.ts'

/** The account can be logged in to again; tokens that ended stay ended. @throws Refusal missing */
export const enableAccount = (writing: Writing, email: string, origin: Origin) =>
  changeAccount(writing, email, origin, enable)
