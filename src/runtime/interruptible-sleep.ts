/** A pause that can be ended early; only one at a time. */
export class InterruptibleSleep {
  #wake: () => void = () => {}

  /** @param ms milliseconds; without it, until woken */
  sleep(ms?: number): Promise<void> {
    return new Promise((done) => {
      const timer = ms === undefined ? undefined : setTimeout(done, ms)
      this.#wake = () => {
        clearTimeout(timer)
        done()
      }
    })
  }

  /** Ends the pause under way, if any. */
  wake(): void {
    this.#wake()
  }
}
