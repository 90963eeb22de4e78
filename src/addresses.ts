import type { Settings } from './settings.ts'

/** What links in answers and mails start with, by API. */
export type Addresses = { readonly base: string; readonly auth: string; readonly secrets: string }

/** @param port the one that is really listened on, where the setting says 0 */
export function addressesOf({ HOST, BASE_URL, AUTH_URL, SECRETS_URL }: Settings, port: number): Addresses {
  const host = HOST === '0.0.0.0' || HOST === '::' ? 'localhost' : HOST.includes(':') ? `[${HOST}]` : HOST
  const own = `http://${host}:${port}`
  return { base: BASE_URL ?? own, auth: AUTH_URL ?? own, secrets: SECRETS_URL ?? own }
}
