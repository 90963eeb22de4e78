/** One client's part of the shared amount. */
export type FairAllocation = {
  /** Takes more. @returns false if there is not enough; nothing more is taken then */
  tryTake(amount: number): boolean
  /** Returns all of it, once. */
  release(): void
}

/**
 * Shares an amount among clients, each counted under names such as an address and an account. A name may hold at most
 * as much as is left for all others: a single client gets half, two get a third each, and a new client always finds
 * some. With several names, each may hold at most what the names before it leave: an account gets at most half of what
 * its address may, so that others at that address find some too. (The rule is the dynamic threshold of Choudhury and
 * Hahne for shared buffers, IEEE/ACM ToN 6(2), 1998.)
 */
export class FairShare {
  #available: number
  readonly #held = new Map<string, number>()

  /** @param total in any unit */
  constructor(total: number) {
    this.#available = total
  }

  /** @param names of the client, from the widest to the narrowest; without names only the total limits it */
  openAllocation(names: readonly string[]): FairAllocation {
    let taken = 0
    return {
      tryTake: (amount) => {
        if (!this.canTake(names, amount)) return false
        this.#change(names, amount)
        taken += amount
        return true
      },
      release: () => {
        this.#change(names, -taken)
        taken = 0
      },
    }
  }

  /** Whether a client with these names could take the amount now. */
  canTake(names: readonly string[], amount: number): boolean {
    const available = this.#available - amount
    let limit = available
    for (const name of names) {
      const held = (this.#held.get(name) ?? 0) + amount
      if (held > available || held > limit) return false
      limit -= held
    }
    return available >= 0
  }

  #change(names: readonly string[], amount: number): void {
    this.#available -= amount
    for (const name of names) {
      const held = (this.#held.get(name) ?? 0) + amount
      if (held > 0) this.#held.set(name, held)
      else this.#held.delete(name)
    }
  }
}
