/** Wakes one reader when there may be something new, including while the reader is busy. */
export class WakeSignal {
  #isSet = true
  #wake: () => void = () => {}

  /** Call it before reading: anything after this counts as new. */
  reset(): void {
    this.#isSet = false
  }

  notify(): void {
    this.#isSet = true
    this.#wake()
  }

  /** Undefined if there is something new already. */
  wait(): Promise<void> | undefined {
    if (this.#isSet) return undefined
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }
}
