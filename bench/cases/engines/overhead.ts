import type { Case, Measurement } from '../../group.ts'

/** What an adapter may add to its bare client. */
const MOST = { most: 1.3 } as const

/** An adapter's call and the bare client's, in microseconds. */
export const overhead = (name: string, ours: Measurement, other: Measurement): Case => ({
  name,
  unit: 'us',
  ours,
  other,
  target: MOST,
})

/** Microseconds that one of so many takes. */
export function each(count: number, work: () => Promise<unknown>): Measurement {
  return async () => {
    const started = performance.now()
    await work()
    return ((performance.now() - started) / count) * 1000
  }
}

/** Microseconds of one call, of so many one after another. */
export const oneByOne = (count: number, work: (index: number) => Promise<unknown>): Measurement =>
  each(count, async () => {
    for (let done = 0; done < count; done++) await work(done)
  })
