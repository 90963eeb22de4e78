import { z } from 'zod'
import { declareEvents, type EventOf, type PayloadChange } from '../event.ts'
import type { Decider } from '../decider.ts'
import { visibleText } from '../visible-text.ts'

const account = z.int().min(1).describe('id of the account')

/** Addresses stood in events of the first version alone. */
export const legacyEmail = z
  .string()
  .optional()
  .describe('the address; only in events of version 1, none is written any more')

/** What a payload of version 1 has more stays as it is: those accounts have their address nowhere else. */
export const EMAIL_REMOVED: PayloadChange = {
  about: '`email` is gone: no event has an address any more.',
  upcast: (data) => data,
}

/**
 * A log-in name, reserved for one account: the first append to its stream wins. What the name is stands in no event but
 * those of former releases (`email`); when its account is forgotten it is free again.
 */
export const loginEvents = declareEvents('login-{digest}', {
  LoginReserved: {
    about:
      'A log-in name belongs to an account from now on: the first one to reserve it has it. The stream is named by an HMAC of the normalised address, with a key of its own; of an account of a former release by its SHA-256.',
    payload: z.object({ account, email: legacyEmail }),
    changes: [EMAIL_REMOVED],
  },
  LoginReleased: {
    about: 'Its account was forgotten: the log-in name is free.',
    payload: z.object({ account }),
  },
})
export type LoginEvent = EventOf<typeof loginEvents>

export type LoginReservation = { status: 'free' } | { status: 'reserved'; account: number }

export const loginDecider: Decider<LoginReservation, LoginEvent> = { initialState: { status: 'free' }, evolve }

function evolve(login: LoginReservation, event: LoginEvent): LoginReservation {
  if (event.type === 'LoginReserved') return { status: 'reserved', account: event.data.account }
  return event.type === 'LoginReleased' ? loginDecider.initialState : login
}

/** Nothing when it is reserved already: whose it is, and whether that account exists, is in the state. */
export function reserveLogin(login: LoginReservation, { account }: { account: number }): LoginEvent[] {
  return login.status === 'reserved' ? [] : [{ type: 'LoginReserved', data: { account } }]
}

/** Nothing where it is not this account's any more. */
export function releaseLogin(login: LoginReservation, { account }: { account: number }): LoginEvent[] {
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
