import { Refusal } from '../../domain/refusal.ts'
import { ok } from '../kit/answer.ts'
import { anybody, endpoint, type Who } from '../kit/endpoint.ts'
import { platform } from '../kit/errors.ts'
import { isNearby } from './nearby.ts'

/** One sample of a gauge or counter, in Prometheus' text format. */
export type Metric = {
  readonly name: string
  readonly help: string
  readonly kind: 'gauge' | 'counter'
  readonly value: number
  readonly labels?: Readonly<Record<string, string>>
}

export type MetricsServices = { readonly metrics: { collect(): Promise<readonly Metric[]> } }

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
    answers: { 200: { about: 'The figures', media: 'text/plain; version=0.0.4; charset=utf-8' } },
    async run(_asked, { metrics }: MetricsServices) {
      return ok((await metrics.collect()).map(written).join(''), TEXT)
    },
  })

/** On the service's own port. */
export const readMetrics = metricsFor('readMetrics', nearby)

/** On METRICS_PORT, where whoever reaches the port may. */
export const readMetricsOnTheirPort = metricsFor('readMetricsOnTheirPort', anybody)

/** https://prometheus.io/docs/instrumenting/exposition_formats/ */
const TEXT = { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8', 'Cache-Control': 'no-store' }

function written({ name, help, kind, value, labels = {} }: Metric): string {
  const named = Object.entries(labels).map(
    ([label, text]) => `${label}="${text.replaceAll(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`,
  )
  const sample = named.length === 0 ? name : `${name}{${named.join(',')}}`
  return `# HELP ${name} ${help}\n# TYPE ${name} ${kind}\n${sample} ${value}\n`
}
