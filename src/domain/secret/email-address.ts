import { RequestError } from '../request-error.ts'

/**
 * Obfuscates an address for display and logs: shows at most two characters of the local part and one of the domain, never all
 * of either, and the top-level domain. `tom@example.com` becomes `to*****@e*****.com`.
 */
export function obfuscateEmail(address: string): string {
  const at = address.lastIndexOf('@')
  const [name, domain] = [address.slice(0, at), address.slice(at + 1)]
  const dot = domain.lastIndexOf('.')
  const [host, topLevelDomain] = dot < 0 ? [domain, ''] : [domain.slice(0, dot), domain.slice(dot)]
  return `${firstCharacters(name, 2)}*****@${firstCharacters(host, 1)}*****${topLevelDomain}`
}

const firstCharacters = (text: string, count: number) => {
  const characters = [...text]
  return characters.slice(0, Math.min(count, characters.length - 1)).join('')
}

/** The address in `Tom <tom@example.com>` (RFC 5322, 3.4: name-addr); any other text unchanged. */
export const extractAddress = (text: string): string => /^[^<>]*<([^<>]*)>$/.exec(text)?.[1]?.trim() ?? text

/** Maximum lengths of the local part and of the whole address: RFC 5321, 4.5.3.1. */
const LONGEST_NAME = 64
const LONGEST_ADDRESS = 254

/**
 * Checks that the text is one address that mail can be sent to: no list, no comment, no quoted name.
 * @throws RequestError invalid
 */
export function checkRecipient(address: string): void {
  const at = address.lastIndexOf('@')
  const isDeliverable =
    /^[^\s@<>()[\]\\,;:"\p{Cc}]+@[^\s@<>()[\]\\,;:"\p{Cc}.]+(?:\.[^\s@<>()[\]\\,;:"\p{Cc}.]+)*$/u.test(address) &&
    at <= LONGEST_NAME &&
    address.length <= LONGEST_ADDRESS
  if (!isDeliverable) throw new RequestError('invalid', `Undeliverable email address: ${address.slice(0, 80)}`)
}
