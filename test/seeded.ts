/** Seeded pseudo-random numbers (mulberry32). */
export class SeededRandom {
  #state: number

  constructor(seed: number) {
    this.#state = seed | 0
  }

  /** In [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** A whole number in [0, count). */
  below(count: number): number {
    return Math.floor(this.next() * count)
  }

  between(min: number, max: number): number {
    return min + this.next() * (max - min)
  }

  pick<Value>(values: readonly [Value, ...Value[]]): Value
  pick<Value>(values: readonly Value[]): Value | undefined
  pick<Value>(values: readonly Value[]): Value | undefined {
    return values[this.below(values.length)]
  }

  /** Picks a name with a probability proportional to its weight. */
  pickWeighted<Name extends string>(weights: Readonly<Record<Name, number>>): Name {
    const entries = Object.entries<number>(weights) as [Name, number][]
    let remaining = this.next() * entries.reduce((sum, [, weight]) => sum + weight, 0)
    for (const [name, weight] of entries) if ((remaining -= weight) < 0) return name
    throw new Error('the weights are empty')
  }
}

/**
 * The seed of this run: SEED, or 1. A failed run prints it (test/run.ts), and test/repeat.ts uses another for each run.
 */
export const SEED = Number(process.env['SEED'] ?? 1)

/** Random choices from this run's seed, independent of those for other names. */
export const randomFor = (name: string): SeededRandom => new SeededRandom(SEED ^ hashOf(name))

/** FNV-1a, 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193)
  return hash
}
