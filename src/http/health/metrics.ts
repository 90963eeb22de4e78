import ipaddr from 'ipaddr.js'
import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'
import { Registry } from 'prom-client'
import { Refusal } from '../../domain/decider.ts'
import { ok } from '../kit/answer.ts'
import { anybody, endpoint, type Who } from '../kit/endpoint.ts'
import { platform } from '../kit/errors.ts'

/** Loopback, private and link-local networks (RFC 6890), by their names in ipaddr.js. */
const NEAR: ReadonlySet<string> = new Set(['loopback', 'private', 'linkLocal', 'uniqueLocal'])

/** Which headers proxies tell by whom they speak for. What only some of them write is believed where it is public. */
const FOR = ['x-forwarded-for', 'x-real-ip', 'forwarded'] as const

/**
 * True where a request comes from this machine or a private network, and was not brought from elsewhere: whom a proxy
 * speaks for must be near as well, however many proxies there are and whichever of them TRUST_PROXY counts. A client can
 * only name more addresses than there are, and so be taken for farther than it is.
 */
export function isNearby({ peer, headers }: Caller): boolean {
  const named = FOR.flatMap((name) => addressesIn(name, [headers[name] ?? []].flat().join(',')))
  return [peer, ...named].every(isNear)
}

/** @property peer address at the other end of the connection */
type Caller = { readonly peer: string; readonly headers: IncomingHttpHeaders }

/** What a header names, whether it is an address or not. */
function addressesIn(name: (typeof FOR)[number], text: string): string[] {
  if (text === '') return []
  const items = text.split(name === 'forwarded' ? /[,;]/ : ',').map((item) => item.trim())
  if (name !== 'forwarded') return items
  // RFC 7239: for=192.0.2.1, for="[2001:db8::1]:4711"; the other parameters are of no matter.
  return items.filter((item) => /^for=/i.test(item)).map((item) => item.slice(4).replace(/^"(.*)"$/, '$1'))
}

function isNear(text: string): boolean {
  const address = /^\[(.*)\](?::\d+)?$/.exec(text)?.[1] ?? text.replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1')
  return isIP(address) !== 0 && NEAR.has(ipaddr.process(address).range())
}

export type MetricsServices = {
  readonly metrics: {
    /** In Prometheus' text format. */
    text(): Promise<string>
  }
}

const nearby: Who<undefined> = {
  scheme: 'none',
  refuses: [403],
  admit(asked) {
    if (isNearby(asked)) return undefined
    const message = 'Metrics are for this machine and private networks; METRICS_PORT gives them a port of their own'
    throw new Refusal('forbidden', message)
  },
}

const metricsFor = (name: string, who: Who<undefined>) =>
  endpoint({
    name,
    method: 'GET',
    path: '/metrics',
    about: "Figures of this process in Prometheus' text format.",
    who,
    family: platform,
    answers: { 200: { about: 'The figures', media: Registry.PROMETHEUS_CONTENT_TYPE } },
    async run(_asked, { metrics }: MetricsServices) {
      return ok(await metrics.text(), TEXT)
    },
  })

/** On the service's own port. */
export const readMetrics = metricsFor('readMetrics', nearby)

/** On METRICS_PORT, where whoever reaches the port may. */
export const readMetricsOnTheirPort = metricsFor('readMetricsOnTheirPort', anybody)

/** https://prometheus.io/docs/instrumenting/exposition_formats/ */
const TEXT = { 'Content-Type': Registry.PROMETHEUS_CONTENT_TYPE, 'Cache-Control': 'no-store' }
