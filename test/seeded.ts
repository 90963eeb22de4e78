/** Seeded pseudo-random numbers (mulberry32). */
export class Choices {
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

  between(least: number, most: number): number {
    return least + this.next() * (most - least)
  }

  one<Thing>(things: readonly [Thing, ...Thing[]]): Thing
  one<Thing>(things: readonly Thing[]): Thing | undefined
  one<Thing>(things: readonly Thing[]): Thing | undefined {
    return things[this.below(things.length)]
  }

  /** Picks a name with a probability proportional to its weight. */
  weighted<Name extends string>(weights: Readonly<Record<Name, number>>): Name {
    const entries = Object.entries<number>(weights) as [Name, number][]
    let at = this.next() * entries.reduce((sum, [, weight]) => sum + weight, 0)
    for (const [name, weight] of entries) if ((at -= weight) < 0) return name
    throw new Error('the weights are empty')
  }
}

/**
 * The seed of this run: SEED, or 1. A failed run prints it (test/run.ts), and test/repeat.ts uses another for each run.
 */
export const SEED = Number(process.env['SEED'] ?? 1)

/** Random choices from this run's seed, independent of those for other names. */
export const choicesFor = (name: string): Choices => new Choices(SEED ^ hashOf(name))

/** FNV-1a, 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193)
  return hash
}
