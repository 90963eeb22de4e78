import { Counter, Gauge, Registry } from 'prom-client'

/** A value read when `/metrics` is scraped. Values counted as they occur are in prom-client's registry. */
export type Metric = {
  readonly name: string
  readonly help: string
  readonly kind: 'gauge' | 'counter'
  readonly value: number
  readonly labels?: Readonly<Record<string, string>>
}

export const gauge = (name: string, help: string, value: number): Metric => ({ name, help, kind: 'gauge', value })

/**
 * The response of `/metrics`, in Prometheus' text format.
 * @param counted counted since the process started
 * @param read read now; in a separate registry, so that a value that can't be read this time disappears
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
