import ipaddr from 'ipaddr.js'
import { isIP } from 'node:net'

/**
 * An IPv4 address, or the /64 network of an IPv6 address: the smallest part of it that somebody has to themselves. What is
 * no address stays as it is.
 */
export function networkOf(address: string): string {
  if (isIP(address) === 0) return address
  const parsed = ipaddr.process(address)
  if (parsed instanceof ipaddr.IPv4) return parsed.toString()
  return `${parsed.parts
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`
}
