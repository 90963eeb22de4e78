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
 * @param countedRegistry counted since the process started
 * @param scrapedMetrics read now; in a separate registry, so that a value that can't be read this time disappears
 */
export async function metricsText(countedRegistry: Registry, scrapedMetrics: readonly Metric[]): Promise<string> {
  const scrapedRegistry = new Registry()
  for (const [name, samples] of Map.groupBy(scrapedMetrics, (metric) => metric.name)) {
    const [{ help, kind, labels: sampleLabels = {} }] = samples as [Metric]
    const options = { name, help, labelNames: Object.keys(sampleLabels), registers: [scrapedRegistry] }
    const metric = kind === 'gauge' ? new Gauge(options) : new Counter(options)
    for (const { labels = {}, value } of samples) metric.inc(labels, value)
  }
  return Registry.merge([scrapedRegistry, countedRegistry]).metrics()
}
