import { disable, type ApiTokensFate } from '../../domain/account/account.ts'
import type { Writing } from '../core/handle.ts'
import { changeAccount } from './change-account.ts'
import type { Origin } from '../../events/origin.ts'

/** Nobody logs in to the account any more, and its tokens end; its API tokens where they are not kept. @throws Refusal missing */
export const disableAccount = (
  writing: Writing,
  { email, apiTokens }: { email: string; apiTokens: ApiTokensFate },
  origin: Origin,
) => changeAccount(writing, email, origin, (account) => disable(account, { apiTokens }))
