/** What somebody has taken of an amount, and gives back. */
export type FairAllocation = {
  /** Takes more, where there is enough. @returns false where there is not, and nothing more is taken */
  tryTake(amount: number): boolean
  /** Gives all of it back, once. */
  release(): void
}

/**
 * An amount that many draw from, each counted under some names, such as an address and an account. Nobody takes more
 * than is left for everybody else: one alone gets half of it, two a third each, and whoever comes next always finds
 * something. Of several names each gets no more than the ones before it leave: an account takes at most half of what
 * its address may, so that others there find something too. (The rule is that of Choudhury and Hahne for buffers that queues share, IEEE/ACM ToN 6(2), 1998.)
 */
export class FairShare {
  #left: number
  readonly #held = new Map<string, number>()

  /** @param total the whole amount, in whatever unit */
  constructor(total: number) {
    this.#left = total
  }

  /** @param names who takes, from the widest to the narrowest; without any only the whole is a bound */
  openAllocation(names: readonly string[]): FairAllocation {
    let taken = 0
    return {
      tryTake: (amount) => {
        if (!this.hasRoom(names, amount)) return false
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

  /** Whether somebody could take so much now. */
  hasRoom(names: readonly string[], amount: number): boolean {
    const left = this.#left - amount
    let room = left
    for (const name of names) {
      const held = (this.#held.get(name) ?? 0) + amount
      if (held > left || held > room) return false
      room -= held
    }
    return left >= 0
  }

  #change(names: readonly string[], amount: number): void {
    this.#left -= amount
    for (const name of names) {
      const held = (this.#held.get(name) ?? 0) + amount
      if (held > 0) this.#held.set(name, held)
      else this.#held.delete(name)
    }
  }
}
