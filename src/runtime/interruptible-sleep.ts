/** A pause that something can end before its time; one at a time. */
export class InterruptibleSleep {
  #wake: () => void = () => {}

  /** @param ms milliseconds, unless it is woken before; without them, until it is woken */
  sleep(ms?: number): Promise<void> {
    return new Promise((done) => {
      const timer = ms === undefined ? undefined : setTimeout(done, ms)
      this.#wake = () => {
        clearTimeout(timer)
        done()
      }
    })
  }

  /** Ends the pause under way, if there is one. */
  wake(): void {
    this.#wake()
  }
}
