/** A log-in name, reserved for one account: the first append to `login-{hash of the normalised address}` wins. */
export type LoginEvent = { type: 'LoginReserved'; data: { account: number; email: string } }

export type Login = { status: 'free' } | { status: 'reserved'; account: number; email: string }

export const freeLogin: Login = { status: 'free' }

export function evolveLogin(login: Login, event: LoginEvent): Login {
  return event.type === 'LoginReserved' ? { status: 'reserved', ...event.data } : login
}

/** Nothing when it is reserved already: whose it is, and whether that account exists, is in the state. */
export function reserveLogin(login: Login, wanted: { account: number; email: string }): LoginEvent[] {
  return login.status === 'reserved' ? [] : [{ type: 'LoginReserved', data: wanted }]
}

/** Characters: an address has at most 254 (RFC 5321, 4.5.3.1), somewhat more where its marks stand by themselves. */
const LONGEST = 1_000

/**
 * Addresses that differ only in case or surrounding spaces are one log-in. What is too long to be anybody's stays as it
 * is: normalising takes time that grows with the square of a run of combining marks, a second for 50,000.
 */
export function normaliseEmail(email: string): string {
  if (email.length > LONGEST) return email
  return email.trim().normalize('NFC').toLowerCase()
}
