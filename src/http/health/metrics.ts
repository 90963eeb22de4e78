import { Refusal } from '../../domain/refusal.ts'
import type { Durations } from '../../runtime/histogram.ts'
import { ok } from '../kit/answer.ts'
import { anybody, endpoint, type Who } from '../kit/endpoint.ts'
import { platform } from '../kit/errors.ts'
import { isNearby } from './nearby.ts'

type Named = {
  readonly name: string
  readonly help: string
  readonly labels?: Readonly<Record<string, string>>
}

/** One sample in Prometheus' text format. */
export type Metric =
  | (Named & { readonly kind: 'gauge' | 'counter' | 'summary'; readonly value: number })
  | (Named & { readonly kind: 'histogram'; readonly value: Durations })

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
      return ok(written(await metrics.collect()), TEXT)
    },
  })

/** On the service's own port. */
export const readMetrics = metricsFor('readMetrics', nearby)

/** On METRICS_PORT, where whoever reaches the port may. */
export const readMetricsOnTheirPort = metricsFor('readMetricsOnTheirPort', anybody)

/** https://prometheus.io/docs/instrumenting/exposition_formats/ */
const TEXT = { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8', 'Cache-Control': 'no-store' }

/** What is told of a name stands once, before all its samples. */
function written(metrics: readonly Metric[]): string {
  const byName = Map.groupBy(metrics, ({ name }) => name)
  return [...byName].map(([name, samples]) => `${headOf(name, samples)}${samples.map(sampleOf).join('')}`).join('')
}

function headOf(name: string, [first]: readonly Metric[]): string {
  return `# HELP ${name} ${first?.help ?? ''}\n# TYPE ${name} ${first?.kind ?? 'untyped'}\n`
}

function sampleOf({ name, labels = {}, ...metric }: Metric): string {
  if (metric.kind !== 'histogram') return lineOf(name, labels, metric.value)
  const { count, sum, buckets } = metric.value
  const all = [...buckets.map(([upTo, within]) => [String(upTo), within] as const), ['+Inf', count] as const]
  const lines = all.map(([le, within]) => lineOf(`${name}_bucket`, { ...labels, le }, within))
  return [...lines, lineOf(`${name}_sum`, labels, sum), lineOf(`${name}_count`, labels, count)].join('')
}

function lineOf(name: string, labels: Readonly<Record<string, string>>, value: number): string {
  const named = Object.entries(labels).map(
    ([label, text]) => `${label}="${text.replaceAll(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`,
  )
  return `${named.length === 0 ? name : `${name}{${named.join(',')}}`} ${value}\n`
}
