import { availableParallelism } from 'node:os'
import { PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

/**
 * Percent that the heap may grow by what is not in use any more before V8 looks for it. Where there is a second core most
 * of that work is done beside the service; on one it takes the service's time, a fifth of its bulks.
 */
const GROWTH = { beside: 40, alone: 100 }

/** Bytes of the young generation, both halves, from which on it grows no more. */
const YOUNG = 16 * 1024 * 1024

/**
 * Keeps V8 from taking memory because the machine has much of it: garbage up to four times what is in use, a young
 * generation of 128 MB on Node 24, and a second optimising compiler. The service that takes in 53,940 stones peaks at
 * 335 MB instead of 460, at the same rate (docs/decisions/0027). The flags are read where they are needed, so that they can
 * be set on a running V8, and no start has to name them: `node --v8-options`.
 */
export function growModestly(): void {
  const growth = availableParallelism() > 1 ? GROWTH.beside : GROWTH.alone
  setFlagsFromString(`--heap-growing-percent=${growth}`)
  setFlagsFromString('--no-maglev')
  boundYoungGeneration()
}

/** `--max-semi-space-size` is read at V8's start only; by what factor the generation grows, at each growth. */
function boundYoungGeneration(): void {
  const observer = new PerformanceObserver(() => {
    const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')
    if (young === undefined || young.space_size < YOUNG) return
    setFlagsFromString('--semi-space-growth-factor=1')
    observer.disconnect()
  })
  observer.observe({ entryTypes: ['gc'] })
}
