import { Counter, Gauge, Registry } from 'prom-client'

/** A sample of what is read when `/metrics` is asked for; what is counted as it happens is prom-client's. */
export type Metric = {
  readonly name: string
  readonly help: string
  readonly kind: 'gauge' | 'counter'
  readonly value: number
  readonly labels?: Readonly<Record<string, string>>
}

export const gauge = (name: string, help: string, value: number): Metric => ({ name, help, kind: 'gauge', value })

/**
 * Everything that `/metrics` says, in Prometheus' text format.
 * @param counted as it happened, since the process started
 * @param read now: it is in a registry of its own, so that nothing stays that could not be read this time
 */
export async function metricsText(counted: Registry, read: readonly Metric[]): Promise<string> {
  const now = new Registry()
  for (const [name, samples] of Map.groupBy(read, (metric) => metric.name)) {
    const [{ help, kind, labels: told = {} }] = samples as [Metric]
    const described = { name, help, labelNames: Object.keys(told), registers: [now] }
    const metric = kind === 'gauge' ? new Gauge(described) : new Counter(described)
    for (const { labels = {}, value } of samples) metric.inc(labels, value)
  }
  return Registry.merge([now, counted]).metrics()
}
