import type { Settings } from './settings.ts'

/** What links in answers and mails start with, by API. */
export type Addresses = { readonly base: string; readonly auth: string; readonly secrets: string }

/** @param port the one that is really listened on, where the setting says 0 */
export function addressesOf({ HOST, BASE_URL, AUTH_URL, SECRETS_URL }: Settings, port: number): Addresses {
  const own = ownAddress({ HOST }, port)
  return { base: BASE_URL ?? own, auth: AUTH_URL ?? own, secrets: SECRETS_URL ?? own }
}

/** Where a port of this process is reached from its own machine. */
export function ownAddress({ HOST }: Pick<Settings, 'HOST'>, port: number): string {
  const host = HOST === '0.0.0.0' || HOST === '::' ? 'localhost' : HOST.includes(':') ? `[${HOST}]` : HOST
  return `http://${host}:${port}`
}

/** Whether clients come by https, as far as the operator says where they come. */
export const isPublicByHttps = ({ BASE_URL }: Settings): boolean => BASE_URL?.startsWith('https:') === true
