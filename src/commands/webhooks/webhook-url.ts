import ipaddr from 'ipaddr.js'
import { isIP } from 'node:net'

/**
 * Global unicast IPv6. Everything else is excluded: loopback, ULA, link-local, multicast, IPv4-mapped addresses, NAT64.
 */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3')

/**
 * Whether an address is globally reachable (RFC 6890 and IANA's special-purpose registries, as implemented by
 * ipaddr.js). Returns false if it is not an address.
 */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0 || address.includes('%')) return false
  const parsed = ipaddr.parse(address)
  return parsed.range() === 'unicast' && (parsed instanceof ipaddr.IPv4 || parsed.match(GLOBAL_UNICAST))
}

export type WebhookRules = {
  /** WEBHOOKS_HTTP: allow http as well as https. */
  readonly http: boolean
  /** WEBHOOKS_PRIVATE: allow addresses outside the public internet. */
  readonly private: boolean
}

const MAX_URL_LENGTH = 2_000

/** Lower ports except 443 are rejected: they belong to services such as mail, shells and databases. */
const MIN_UNPRIVILEGED_PORT = 1_024
const HTTPS_PORT = 443

/** Returns what is wrong with a webhook's URL, as a sentence, or undefined if it is valid. */
export function faultOfUrl(text: string, rules: WebhookRules): string | undefined {
  if (text.length > MAX_URL_LENGTH)
    return `The address must have at most ${MAX_URL_LENGTH} characters, got ${text.length}`
  // The URL parser silently removes these characters, and the stored URL would differ from the one shown.
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
  if (username !== '' || password !== '')
    return 'The address must not contain a user name or password: verify the signature instead'
  return hash === '' ? undefined : 'The address must not have a fragment (#): it is not sent'
}

function faultOfPort(url: URL): string | undefined {
  const port = portOf(url)
  if (port === HTTPS_PORT || port >= MIN_UNPRIVILEGED_PORT) return undefined
  return `The port must be ${HTTPS_PORT} or from ${MIN_UNPRIVILEGED_PORT} up, got ${port}`
}

function faultOfHost(url: URL, rules: WebhookRules): string | undefined {
  const host = hostOf(url)
  if (rules.private || isIP(host) === 0 || isPublicAddress(host)) return undefined
  return `The address ${host} is not on the public internet`
}

/** @returns the scheme's default port if the URL has none */
export const portOf = ({ port, protocol }: URL): number =>
  port === '' ? (protocol === 'https:' ? HTTPS_PORT : 80) : Number(port)

/**
 * A host name, or an IP address without IPv6 brackets. The URL parser has already normalized IPv4 to dotted decimal.
 */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, '$1')
