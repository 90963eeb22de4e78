import ipaddr from 'ipaddr.js'
import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'
import { Registry } from 'prom-client'
import { RequestError } from '../../domain/request-error.ts'
import { ok } from '../kit/response.ts'
import { publicAccess, endpoint, type Authenticator } from '../kit/endpoint.ts'
import { platformGroup } from '../kit/errors.ts'

/** Loopback, private and link-local networks (RFC 6890), by their names in ipaddr.js. */
const PRIVATE_RANGES: ReadonlySet<string> = new Set(['loopback', 'private', 'linkLocal', 'uniqueLocal'])

/** Headers in which proxies name the client. Each is only used to deny access, so a forged one cannot grant it. */
const FORWARDING_HEADERS = ['x-forwarded-for', 'x-real-ip', 'forwarded'] as const

/**
 * True if the peer and every address in the forwarding headers are on this machine or a private network, regardless of
 * TRUST_PROXY. A client can add addresses to the headers but not remove them, so it cannot gain access by them.
 */
export function isFromPrivateNetwork({ peerAddress, headers }: RequestSource): boolean {
  const forwardedAddresses = FORWARDING_HEADERS.flatMap((name) =>
    addressesIn(name, [headers[name] ?? []].flat().join(',')),
  )
  return [peerAddress, ...forwardedAddresses].every(isPrivateAddress)
}

type RequestSource = { readonly peerAddress: string; readonly headers: IncomingHttpHeaders }

/** The entries of a forwarding header, which may be invalid addresses. */
function addressesIn(name: (typeof FORWARDING_HEADERS)[number], text: string): string[] {
  if (text === '') return []
  const items = text.split(name === 'forwarded' ? /[,;]/ : ',').map((item) => item.trim())
  if (name !== 'forwarded') return items
  // RFC 7239: for=192.0.2.1, for="[2001:db8::1]:4711"; other parameters are ignored.
  return items.filter((item) => /^for=/i.test(item)).map((item) => item.slice(4).replace(/^"(.*)"$/, '$1'))
}

function isPrivateAddress(text: string): boolean {
  const address = /^\[(.*)\](?::\d+)?$/.exec(text)?.[1] ?? text.replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1')
  return isIP(address) !== 0 && PRIVATE_RANGES.has(ipaddr.process(address).range())
}

export type MetricsServices = { readonly metricsRegistry: Pick<Registry, 'metrics'> }

const privateNetworkOnly: Authenticator<undefined> = {
  scheme: 'none',
  errorStatuses: [403],
  authenticate(ctx) {
    if (isFromPrivateNetwork({ peerAddress: ctx.socket.remoteAddress ?? '', headers: ctx.headers })) return undefined
    const message =
      'Metrics are available only to this machine and private networks; set METRICS_PORT to serve them on a separate port'
    throw new RequestError('forbidden', message)
  },
}

const metricsFor = (operationId: string, auth: Authenticator<undefined>) =>
  endpoint({
    operationId,
    method: 'GET',
    path: '/metrics',
    summary: 'Retrieve the metrics of this process in the Prometheus text format',
    auth,
    group: platformGroup,
    responses: { 200: { description: 'The metrics', mediaType: Registry.PROMETHEUS_CONTENT_TYPE } },
    async handler(_ctx, { metricsRegistry }: MetricsServices) {
      return ok(await metricsRegistry.metrics(), TEXT)
    },
  })

/** On the service's own port. */
export const readMetrics = metricsFor('readMetrics', privateNetworkOnly)

/** On METRICS_PORT, without authentication: restrict access to the port itself. */
export const readMetricsOnOwnPort = metricsFor('readMetricsOnTheirPort', publicAccess)

/** https://prometheus.io/docs/instrumenting/exposition_formats/ */
const TEXT = { 'Content-Type': Registry.PROMETHEUS_CONTENT_TYPE, 'Cache-Control': 'no-store' }
