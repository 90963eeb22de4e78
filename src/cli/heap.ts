import { availableParallelism } from 'node:os'
import { PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

/**
 * Percent by which garbage may grow the heap before V8 collects it. With a second core most of the collection runs
 * concurrently with the service; on a single core it costs bulk requests a fifth of their throughput.
 */
const HEAP_GROWTH_PERCENT = { multiCore: 40, singleCore: 100 }

/** Size of the young generation, both semi-spaces, at which it stops growing. */
const MAX_YOUNG_GENERATION_BYTES = 16 * 1024 * 1024

/**
 * Limits the memory that V8 takes on machines with much memory: by default garbage up to four times the live heap, a young
 * generation of 128 MB on Node 24, and a second optimising compiler. A service that creates 53,940 stones peaks at 335 MB
 * instead of 460 MB, at the same rate (docs/decisions/0027). V8 reads these flags (`node --v8-options`) each time it uses
 * them, so that they take effect at run time.
 */
export function limitHeapGrowth(setFlag: SetFlag = setFlagsFromString): void {
  const growthPercent = availableParallelism() > 1 ? HEAP_GROWTH_PERCENT.multiCore : HEAP_GROWTH_PERCENT.singleCore
  setFlag(`--heap-growing-percent=${growthPercent}`)
  setFlag('--no-maglev')
  const limiter = new YoungGenerationLimiter(setFlag)
  new PerformanceObserver(() => limiter.afterGarbageCollection(youngGenerationBytes())).observe({ entryTypes: ['gc'] })
}

type SetFlag = (flag: string) => void

const youngGenerationBytes = () =>
  getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? 0

/** Factors by which the young generation grows: V8's default, and no growth. */
const DEFAULT_GROWTH_FACTOR = 2
const NO_GROWTH_FACTOR = 1

/**
 * Limits the young generation by its growth factor: V8 reads `--max-semi-space-size` only at startup, the factor at each
 * growth. V8 shrinks the young generation while idle, so growth must be enabled again: else garbage collection would take a
 * sixth of the time of every request of the next peak.
 */
export class YoungGenerationLimiter {
  #appliedFactor: number = DEFAULT_GROWTH_FACTOR

  constructor(private readonly setFlag: SetFlag) {}

  /** @param bytes size of the young generation after a collection */
  afterGarbageCollection(bytes: number): void {
    const factor = bytes >= MAX_YOUNG_GENERATION_BYTES ? NO_GROWTH_FACTOR : DEFAULT_GROWTH_FACTOR
    if (factor === this.#appliedFactor) return
    this.#appliedFactor = factor
    this.setFlag(`--semi-space-growth-factor=${factor}`)
  }
}
