import type { Case, Measurement } from '../../group.ts'

/** The maximum ratio of an adapter's time to its bare client's. */
const TARGET = { max: 1.3 } as const

/** Compares an adapter's call with the bare client's, in microseconds. */
export const overhead = (name: string, ours: Measurement, baseline: Measurement): Case => ({
  name,
  unit: 'us',
  ours,
  baseline,
  target: TARGET,
})

/** Microseconds per item, for work on `count` items. */
export function perItem(count: number, work: () => Promise<unknown>): Measurement {
  return async () => {
    const started = performance.now()
    await work()
    return ((performance.now() - started) / count) * 1000
  }
}

/** Microseconds per call, for `count` sequential calls. */
export const perCall = (count: number, work: (index: number) => Promise<unknown>): Measurement =>
  perItem(count, async () => {
    for (let done = 0; done < count; done++) await work(done)
  })
