import ipaddr from 'ipaddr.js'
import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'
import { Registry } from 'prom-client'
import { RequestError } from '../../domain/decider.ts'
import { ok } from '../kit/response.ts'
import { publicAccess, endpoint, type Authenticator } from '../kit/endpoint.ts'
import { platformGroup } from '../kit/errors.ts'

/** Loopback, private and link-local networks (RFC 6890), by their names in ipaddr.js. */
const PRIVATE_RANGES: ReadonlySet<string> = new Set(['loopback', 'private', 'linkLocal', 'uniqueLocal'])

/** Which headers proxies tell by whom they speak for. What only some of them write is believed where it is public. */
const FORWARDING_HEADERS = ['x-forwarded-for', 'x-real-ip', 'forwarded'] as const

/**
 * True where a request comes from this machine or a private network, and was not brought from elsewhere: whom a proxy
 * speaks for must be near as well, however many proxies there are and whichever of them TRUST_PROXY counts. A client can
 * only name more addresses than there are, and so be taken for farther than it is.
 */
export function isFromPrivateNetwork({ peerAddress, headers }: RequestSource): boolean {
  const forwardedAddresses = FORWARDING_HEADERS.flatMap((name) =>
    addressesIn(name, [headers[name] ?? []].flat().join(',')),
  )
  return [peerAddress, ...forwardedAddresses].every(isPrivateAddress)
}

/** @property peer address at the other end of the connection */
type RequestSource = { readonly peerAddress: string; readonly headers: IncomingHttpHeaders }

/** What a header names, whether it is an address or not. */
function addressesIn(name: (typeof FORWARDING_HEADERS)[number], text: string): string[] {
  if (text === '') return []
  const items = text.split(name === 'forwarded' ? /[,;]/ : ',').map((item) => item.trim())
  if (name !== 'forwarded') return items
  // RFC 7239: for=192.0.2.1, for="[2001:db8::1]:4711"; the other parameters are of no matter.
  return items.filter((item) => /^for=/i.test(item)).map((item) => item.slice(4).replace(/^"(.*)"$/, '$1'))
}

function isPrivateAddress(text: string): boolean {
  const address = /^\[(.*)\](?::\d+)?$/.exec(text)?.[1] ?? text.replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1')
  return isIP(address) !== 0 && PRIVATE_RANGES.has(ipaddr.process(address).range())
}

export type MetricsServices = {
  readonly metrics: {
    /** In Prometheus' text format. */
    text(): Promise<string>
  }
}

const privateNetworkOnly: Authenticator<undefined> = {
  scheme: 'none',
  errorStatuses: [403],
  authenticate(request) {
    if (isFromPrivateNetwork(request)) return undefined
    const message = 'Metrics are for this machine and private networks; METRICS_PORT gives them a port of their own'
    throw new RequestError('forbidden', message)
  },
}

const metricsFor = (operationId: string, auth: Authenticator<undefined>) =>
  endpoint({
    operationId,
    method: 'GET',
    path: '/metrics',
    summary: "Figures of this process in Prometheus' text format.",
    auth,
    group: platformGroup,
    responses: { 200: { description: 'The figures', mediaType: Registry.PROMETHEUS_CONTENT_TYPE } },
    async handler(_request, { metrics }: MetricsServices) {
      return ok(await metrics.text(), TEXT)
    },
  })

/** On the service's own port. */
export const readMetrics = metricsFor('readMetrics', privateNetworkOnly)

/** On METRICS_PORT, where whoever reaches the port may. */
export const readMetricsOnOwnPort = metricsFor('readMetricsOnTheirPort', publicAccess)

/** https://prometheus.io/docs/instrumenting/exposition_formats/ */
const TEXT = { 'Content-Type': Registry.PROMETHEUS_CONTENT_TYPE, 'Cache-Control': 'no-store' }
