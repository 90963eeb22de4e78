/**
 * Coalesces concurrent calls. A call never joins a request that started before it, so the result includes everything
 * that happened before the call.
 */
export class SingleFlight<Answer> {
  #running: Promise<Answer> | undefined
  #next: Promise<Answer> | undefined

  constructor(private readonly ask: () => Promise<Answer>) {}

  get(): Promise<Answer> {
    if (this.#running === undefined) return this.#start()
    this.#next ??= this.#running.then(
      () => this.#start(),
      () => this.#start(),
    )
    return this.#next
  }

  #start(): Promise<Answer> {
    this.#next = undefined
    const running = this.ask().finally(() => {
      if (this.#running === running) this.#running = undefined
    })
    this.#running = running
    return running
  }
}
