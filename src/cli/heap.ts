import { availableParallelism } from 'node:os'
import { PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

/**
 * Percent that the heap may grow by what is not in use any more before V8 looks for it. Where there is a second core most
 * of that work is done beside the service; on one it takes the service's time, a fifth of its bulks.
 */
const HEAP_GROWTH_PERCENT = { beside: 40, alone: 100 }

/** Bytes of the young generation, both halves, from which on it grows no more. */
const MAX_YOUNG_GENERATION_BYTES = 16 * 1024 * 1024

/**
 * Keeps V8 from taking memory because the machine has much of it: garbage up to four times what is in use, a young
 * generation of 128 MB on Node 24, and a second optimising compiler. The service that takes in 53,940 stones peaks at
 * 335 MB instead of 460, at the same rate (docs/decisions/0027). The flags are read where they are needed, so that they can
 * be set on a running V8, and no start has to name them: `node --v8-options`.
 */
export function limitHeapGrowth(setFlag: SetFlag = setFlagsFromString): void {
  const growth = availableParallelism() > 1 ? HEAP_GROWTH_PERCENT.beside : HEAP_GROWTH_PERCENT.alone
  setFlag(`--heap-growing-percent=${growth}`)
  setFlag('--no-maglev')
  const young = new YoungGenerationLimiter(setFlag)
  new PerformanceObserver(() => young.afterGarbageCollection(youngBytes())).observe({ entryTypes: ['gc'] })
}

export type SetFlag = (flag: string) => void

/** The bytes of the young generation at this moment. */
const youngBytes = () => getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? 0

/** By what factor the young generation grows, at each growth: V8's own, and none. */
const DEFAULT_GROWTH_FACTOR = 2
const NO_GROWTH_FACTOR = 1

/**
 * `--max-semi-space-size` is read at V8's start only; the factor, at each growth. Where little happens V8 makes the young
 * generation as small as it was at first: it must be let grow again, or each answer of the next rush pays a sixth for garbage.
 */
export class YoungGenerationLimiter {
  #appliedFactor: number = DEFAULT_GROWTH_FACTOR

  constructor(private readonly setFlag: SetFlag) {}

  /** @param bytes that it has behind a collection of garbage */
  afterGarbageCollection(bytes: number): void {
    const factor = bytes >= MAX_YOUNG_GENERATION_BYTES ? NO_GROWTH_FACTOR : DEFAULT_GROWTH_FACTOR
    if (factor === this.#appliedFactor) return
    this.#appliedFactor = factor
    this.setFlag(`--semi-space-growth-factor=${factor}`)
  }
}
