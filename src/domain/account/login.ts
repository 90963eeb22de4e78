import { z } from 'zod'
import { declareEvents, type EventOf, type PayloadChange } from '../event.ts'
import type { Fold } from '../fold.ts'
import { visibleText } from '../visible-text.ts'

const account = z.int().min(1).describe('id of the account')

/** Only version 1 of these events contains the address. */
export const legacyEmail = z.string().optional().describe('the email address; only in version 1, no longer written')

/** The address stays in payloads of version 1: for those accounts it is stored nowhere else. */
export const EMAIL_REMOVED: PayloadChange = {
  about: '`email` was removed: new events contain no address.',
  upcast: (data) => data,
}

/**
 * A log-in name, reserved for one account: the first append to its stream wins. Only events of earlier releases contain the
 * name (`email`). When the account is forgotten, the name is released.
 */
export const loginEvents = declareEvents('login-{digest}', {
  LoginReserved: {
    about:
      'A log-in name was reserved for an account. The stream name contains an HMAC of the normalised address with a separate key; for accounts of earlier releases, its SHA-256.',
    payload: z.object({ account, email: legacyEmail }),
    changes: [EMAIL_REMOVED],
  },
  LoginReleased: {
    about: 'The account was forgotten, and its log-in name was released.',
    payload: z.object({ account }),
  },
})
export type LoginEvent = EventOf<typeof loginEvents>

type LoginReservation = { status: 'free' } | { status: 'reserved'; account: number }

export const loginFold: Fold<LoginReservation, LoginEvent> = { initialState: { status: 'free' }, evolve }

function evolve(login: LoginReservation, event: LoginEvent): LoginReservation {
  if (event.type === 'LoginReserved') return { status: 'reserved', account: event.data.account }
  return event.type === 'LoginReleased' ? loginFold.initialState : login
}

/** No event if the name is already reserved; the state says for which account. That account may not exist. */
export function reserveLogin(login: LoginReservation, { account }: { account: number }): LoginEvent[] {
  return login.status === 'reserved' ? [] : [{ type: 'LoginReserved', data: { account } }]
}

/** No event if the name is not reserved for this account. */
export function releaseLogin(login: LoginReservation, { account }: { account: number }): LoginEvent[] {
  if (login.status === 'free' || login.account !== account) return []
  return [{ type: 'LoginReleased', data: { account } }]
}

/** Characters. An address has at most 254 (RFC 5321, 4.5.3.1), more with decomposed combining marks. */
const MAX_NORMALISED_LENGTH = 1_000

/**
 * The log-in name of an address: case, surrounding spaces and invisible characters do not count. An address over the limit
 * stays unchanged: normalising takes time quadratic in a run of combining marks, a second for 50,000 of them.
 */
export function normaliseEmail(email: string): string {
  if (email.length > MAX_NORMALISED_LENGTH) return email
  return visibleText(email).toLowerCase()
}
