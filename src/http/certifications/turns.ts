/** So many have their turn at a time; the others wait for theirs, first come, first served. */
export class Turns {
  readonly #waiting: (() => void)[] = []
  #free: number

  constructor(count: number) {
    this.#free = count
  }

  /** Resolves when it is one's turn; the function that comes back ends it, once. */
  async take(): Promise<() => void> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>((done) => this.#waiting.push(done))
    let ended = false
    return () => {
      if (!ended) this.#end()
      ended = true
    }
  }

  #end(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#free++
    else next()
  }
}
