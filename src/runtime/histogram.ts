/** How often something took so many seconds or less, each bucket with all below it. */
export type Durations = {
  readonly count: number
  /** Seconds, all together. */
  readonly sum: number
  readonly buckets: readonly (readonly [upTo: number, count: number])[]
}

/** Seconds up to which something counts for a bucket: from a look into memory to what everybody has given up on. */
const SECONDS = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
] as const

/** Counts how long something takes, in buckets whose number never grows. */
export class Histogram {
  readonly #within: number[]
  #count = 0
  #sum = 0

  /** @param bounds seconds, the shortest first */
  constructor(private readonly bounds: readonly number[] = SECONDS) {
    this.#within = bounds.map(() => 0)
  }

  took(seconds: number): void {
    this.#count++
    this.#sum += seconds
    // Each request passes here several times: a loop costs a fifth of what a function for each bound does.
    let bucket = 0
    while (seconds > (this.bounds[bucket] ?? Infinity)) bucket++
    if (bucket < this.bounds.length) this.#within[bucket] = (this.#within[bucket] ?? 0) + 1
  }

  get value(): Durations {
    let below = 0
    const buckets = this.bounds.map((upTo, at) => [upTo, (below += this.#within[at] ?? 0)] as const)
    return { count: this.#count, sum: this.#sum, buckets }
  }
}
