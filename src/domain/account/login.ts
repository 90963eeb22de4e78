import type { Decider } from '../decider.ts'
import { visibleText } from '../visible-text.ts'

/**
 * A log-in name, reserved for one account: the first append to its stream wins. What the name is stands in no event but
 * those of former releases (`email`); when its account is forgotten it is free again.
 */
export type LoginEvent =
  | { type: 'LoginReserved'; data: { account: number; email?: string | undefined } }
  | { type: 'LoginReleased'; data: { account: number } }

export type Login = { status: 'free' } | { status: 'reserved'; account: number }

export const loginDecider: Decider<Login, LoginEvent> = { initialState: { status: 'free' }, evolve }

function evolve(login: Login, event: LoginEvent): Login {
  if (event.type === 'LoginReserved') return { status: 'reserved', account: event.data.account }
  return event.type === 'LoginReleased' ? loginDecider.initialState : login
}

/** Nothing when it is reserved already: whose it is, and whether that account exists, is in the state. */
export function reserveLogin(login: Login, { account }: { account: number }): LoginEvent[] {
  return login.status === 'reserved' ? [] : [{ type: 'LoginReserved', data: { account } }]
}

/** Nothing where it is not this account's any more. */
export function releaseLogin(login: Login, { account }: { account: number }): LoginEvent[] {
  if (login.status === 'free' || login.account !== account) return []
  return [{ type: 'LoginReleased', data: { account } }]
}

/** Characters: an address has at most 254 (RFC 5321, 4.5.3.1), somewhat more where its marks stand by themselves. */
const LONGEST = 1_000

/**
 * Addresses that differ only in case, in blanks around them or in characters that nobody sees are one log-in. An address
 * that is too long to be anybody's stays as it is: normalising takes time that grows with the square of a run of combining
 * marks, a second for 50,000.
 */
export function normaliseEmail(email: string): string {
  if (email.length > LONGEST) return email
  return visibleText(email).toLowerCase()
}
