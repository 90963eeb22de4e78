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
