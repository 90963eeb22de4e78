/** Tells one reader that there may be something new, also where it came while the reader was at work. */
export class WakeSignal {
  #isThere = true
  #wake: () => void = () => {}

  /** Call it before looking: what comes from then on is new. */
  reset(): void {
    this.#isThere = false
  }

  notify(): void {
    this.#isThere = true
    this.#wake()
  }

  /** Undefined where there is something already. */
  wait(): Promise<void> | undefined {
    if (this.#isThere) return undefined
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }
}
