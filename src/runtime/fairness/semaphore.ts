type Waiting = { readonly begin: () => void; readonly refuse: (reason: Error) => void }

/** So many have a permit at a time; the others wait for one in the order in which they came. */
export class Semaphore {
  readonly #waiting: Waiting[] = []
  #free: number

  constructor(permits: number) {
    this.#free = permits
  }

  /**
   * Acts when a permit is free, and releases it at the end.
   * @throws what the action throws, or what `refuse` says to who still waits
   */
  async run<Result>(action: () => Promise<Result>): Promise<Result> {
    await this.#acquire()
    try {
      return await action()
    } finally {
      this.#release()
    }
  }

  /** Ends the waiting of all who wait now, where none of them would fare better. */
  refuse(reason: Error): void {
    for (const { refuse } of this.#waiting.splice(0)) refuse(reason)
  }

  async #acquire(): Promise<void> {
    if (this.#free === 0) return new Promise((begin, refuse) => this.#waiting.push({ begin, refuse }))
    this.#free--
  }

  #release(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#free++
    else next.begin()
  }
}
