import { Counter, Gauge, type Registry } from 'prom-client'
import { StoreUnavailable } from '../stores/ports/event-store.ts'

type ScrapedMetrics = Readonly<Record<string, readonly [help: string, read: Read, label?: string]>>
type Read = () => Reading | Promise<Reading>
/** A number, or one for each value of the label. */
type Reading = number | undefined | Readonly<Record<string, number | undefined>>

/**
 * Registers gauges that are read when `/metrics` is scraped. A value that is undefined or whose store is unavailable has
 * no sample; the other metrics are still exported.
 */
export const registerGauges = (registry: Registry, metrics: ScrapedMetrics): void => register(Gauge, registry, metrics)

/** The same for numbers that are counted elsewhere. */
export const registerCounters = (registry: Registry, metrics: ScrapedMetrics): void =>
  register(Counter, registry, metrics)

function register(Metric: typeof Gauge | typeof Counter, registry: Registry, metrics: ScrapedMetrics): void {
  for (const [name, [help, read, label]] of Object.entries(metrics)) {
    async function collect() {
      const reading = await ifAvailable(read)
      metric.reset()
      // A reset gives a metric without labels the value 0.
      metric.remove({})
      if (typeof reading === 'number') return metric.inc(reading)
      for (const [of, value] of Object.entries(reading ?? {}))
        if (label !== undefined && value !== undefined) metric.inc({ [label]: of }, value)
    }
    const labelNames = label === undefined ? [] : [label]
    const metric: Gauge | Counter = new Metric({ name, help, labelNames, registers: [registry], collect })
  }
}

/** Undefined while the store is unavailable. */
export async function ifAvailable<Answer>(query: () => Answer | Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await query()
  } catch (error) {
    if (error instanceof StoreUnavailable) return undefined
    throw error
  }
}

/** Reads once for all metrics of a scrape: prom-client starts to collect them all before the first one has its value. */
export function oncePerScrape<Value>(read: () => Promise<Value>): () => Promise<Value> {
  let pending: Promise<Value> | undefined
  return () => (pending ??= read().finally(() => (pending = undefined)))
}

/** A name as a part of a metric's name. */
export const toMetricName = (name: string): string => name.replaceAll(/\W/g, '_')
