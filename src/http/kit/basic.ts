export type BasicCredentials = { readonly user: string; readonly password: string }

/** The scheme in any case, then one token68. */
const BASIC = /^basic +([\w+/-]+={0,2}) *$/i

/** Whether an Authorization header is of HTTP Basic, readable or not. */
export const isBasic = (header: string | undefined): boolean => /^basic\b/i.test(header ?? '')

/** What an Authorization header of HTTP Basic shows (RFC 7617); undefined where that is not readable. */
export function basicCredentials(header: string): BasicCredentials | undefined {
  const text = Buffer.from(BASIC.exec(header)?.[1] ?? '', 'base64').toString()
  const colon = text.indexOf(':')
  return colon < 0 ? undefined : { user: text.slice(0, colon), password: text.slice(colon + 1) }
}
