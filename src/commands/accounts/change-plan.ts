import { changePlan as decide, type Plan } from '../../domain/account/account.ts'
import { changeAccount } from './change-account.ts'
import type { Writing } from '../core/handle.ts'
import type { Origin } from '../../events/origin.ts'

/** @throws Refusal missing */
export const changePlan = (writing: Writing, { email, plan }: { email: string; plan: Plan }, origin: Origin) =>
  changeAccount(writing, email, origin, (account) => decide(account, { plan }))
