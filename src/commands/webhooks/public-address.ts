import { BlockList, isIPv4, isIPv6 } from 'node:net'

/** What is no host of the public internet (RFC 6890 and IANA's registries for special purposes), as prefixes of IPv4. */
const NOT_PUBLIC = new BlockList()
for (const [network, bits] of [
  ['0.0.0.0', 8], // this network
  ['10.0.0.0', 8], // private
  ['100.64.0.0', 10], // carriers' own
  ['127.0.0.0', 8], // loopback
  ['169.254.0.0', 16], // link-local, where clouds tell their metadata
  ['172.16.0.0', 12], // private
  ['192.0.0.0', 24], // protocols
  ['192.0.2.0', 24], // documentation
  ['192.88.99.0', 24], // relays of 6to4
  ['192.168.0.0', 16], // private
  ['198.18.0.0', 15], // benchmarks
  ['198.51.100.0', 24], // documentation
  ['203.0.113.0', 24], // documentation
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved, broadcast
] as const) {
  NOT_PUBLIC.addSubnet(network, bits, 'ipv4')
}

/** The hosts of the public internet in IPv6. All else is not: loopback, ULA, link-local, multicast, IPv4 in disguise, NAT64. */
const GLOBAL = new BlockList()
GLOBAL.addSubnet('2000::', 3, 'ipv6')

/** What is in there and no such host: it may lead to an IPv4 address of any kind, or nowhere. */
const NOT_PUBLIC_6 = new BlockList()
for (const [network, bits] of [
  ['2001::', 23], // protocols, Teredo among them
  ['2001:db8::', 32], // documentation
  ['2002::', 16], // 6to4
  ['3fff::', 20], // documentation
] as const) {
  NOT_PUBLIC_6.addSubnet(network, bits, 'ipv6')
}

/** Whether an address is one of the public internet's hosts; false for what is no address. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !NOT_PUBLIC.check(address, 'ipv4')
  if (!isIPv6(address) || address.includes('%')) return false
  return GLOBAL.check(address, 'ipv6') && !NOT_PUBLIC_6.check(address, 'ipv6')
}
