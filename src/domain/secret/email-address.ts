import { RequestError } from '../decider.ts'

/**
 * What is shown and logged of an address: at most two characters of the name and one of the domain, and never all of
 * either, and the top-level domain. `tom@example.com` is `to*****@e*****.com`.
 */
export function obfuscateEmail(address: string): string {
  const at = address.lastIndexOf('@')
  const [name, domain] = [address.slice(0, at), address.slice(at + 1)]
  const dot = domain.lastIndexOf('.')
  const [host, top] = dot < 0 ? [domain, ''] : [domain.slice(0, dot), domain.slice(dot)]
  return `${start(name, 2)}*****@${start(host, 1)}*****${top}`
}

const start = (text: string, count: number) => {
  const characters = [...text]
  return characters.slice(0, Math.min(count, characters.length - 1)).join('')
}

/** The address of one that is written with its name, `Tom <tom@example.com>` (RFC 5322, 3.4: name-addr); any other text as it is. */
export const extractAddress = (text: string): string => /^[^<>]*<([^<>]*)>$/.exec(text)?.[1]?.trim() ?? text

/** Longest local part and longest address: RFC 5321, 4.5.3.1. */
const LONGEST_NAME = 64
const LONGEST_ADDRESS = 254

/**
 * One address to which a mail can go: no list, no comment, no quoted name.
 * @throws Refusal invalid
 */
export function checkRecipient(address: string): void {
  const at = address.lastIndexOf('@')
  const deliverable =
    /^[^\s@<>()[\]\\,;:"\p{Cc}]+@[^\s@<>()[\]\\,;:"\p{Cc}.]+(?:\.[^\s@<>()[\]\\,;:"\p{Cc}.]+)*$/u.test(address) &&
    at <= LONGEST_NAME &&
    address.length <= LONGEST_ADDRESS
  if (!deliverable) throw new RequestError('invalid', `Undeliverable email address: ${address.slice(0, 80)}`)
}
