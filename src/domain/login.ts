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

/** Addresses that differ only in case or surrounding spaces are one log-in. */
export function normaliseEmail(email: string): string {
  return email.trim().normalize('NFC').toLowerCase()
}
