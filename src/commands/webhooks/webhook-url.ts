import ipaddr from 'ipaddr.js'
import { isIP } from 'node:net'

/** The hosts of the public internet in IPv6. All else is not: loopback, ULA, link-local, multicast, IPv4 in disguise, NAT64. */
const GLOBAL = ipaddr.IPv6.parseCIDR('2000::/3')

/**
 * Whether an address is one of the public internet's hosts (RFC 6890 and IANA's registries for special purposes, as
 * ipaddr.js has them); false for what is no address.
 */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0 || address.includes('%')) return false
  const parsed = ipaddr.parse(address)
  return parsed.range() === 'unicast' && (parsed instanceof ipaddr.IPv4 || parsed.match(GLOBAL))
}

/** What an operator lets webhooks be. */
export type WebhookRules = {
  /** WEBHOOKS_HTTP: http beside https. */
  readonly http: boolean
  /** WEBHOOKS_PRIVATE: addresses that are not of the public internet. */
  readonly private: boolean
}

/** Characters of an address at most. */
const MAX_URL_LENGTH = 2_000

/** Below it, no port but that of https is a receiver's: mail, shells and databases of others listen there. */
const MIN_UNPRIVILEGED_PORT = 1_024
const HTTPS_PORT = 443

/** What is wrong with a webhook's address, as a sentence; undefined where nothing is. */
export function faultOfUrl(text: string, rules: WebhookRules): string | undefined {
  if (text.length > MAX_URL_LENGTH)
    return `The address has ${text.length} characters, at most ${MAX_URL_LENGTH} are taken`
  // What a parser takes away in silence would not be what is shown.
  if (/[\s\p{Cc}\\]/u.test(text) || !URL.canParse(text)) {
    return 'The address must be absolute, such as https://example.com/webhook'
  }
  const url = new URL(text)
  return faultOfScheme(url, rules) ?? faultOfParts(url) ?? faultOfPort(url) ?? faultOfHost(url, rules)
}

function faultOfScheme({ protocol }: URL, { http }: WebhookRules): string | undefined {
  if (protocol === 'https:' || (http && protocol === 'http:')) return undefined
  return http ? 'The address must begin with https:// or http://' : 'The address must begin with https://'
}

function faultOfParts({ username, password, hash }: URL): string | undefined {
  if (username !== '' || password !== '') return 'The address must hold no user and no password; verify the signature'
  return hash === '' ? undefined : 'The address must have no fragment (#): it is not sent'
}

function faultOfPort(url: URL): string | undefined {
  const port = portOf(url)
  if (port === HTTPS_PORT || port >= MIN_UNPRIVILEGED_PORT) return undefined
  return `The port must be ${HTTPS_PORT} or from ${MIN_UNPRIVILEGED_PORT} up, got ${port}`
}

function faultOfHost(url: URL, rules: WebhookRules): string | undefined {
  const host = hostOf(url)
  if (rules.private || isIP(host) === 0 || isPublicAddress(host)) return undefined
  return `The address ${host} is not one of the public internet`
}

/** @returns the scheme's own where the address names none */
export const portOf = ({ port, protocol }: URL): number =>
  port === '' ? (protocol === 'https:' ? HTTPS_PORT : 80) : Number(port)

/** A name, or an address without the brackets of IPv6. Decimal and hexadecimal forms of IPv4 are dotted by now. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, '$1')
