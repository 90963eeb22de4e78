/**
 * Coalesces concurrent calls. A call never joins a request that started before it, so the result includes everything
 * that happened before the call.
 */
export class SingleFlight<Answer> {
  #underWay: Promise<Answer> | undefined
  #next: Promise<Answer> | undefined

  constructor(private readonly ask: () => Promise<Answer>) {}

  get(): Promise<Answer> {
    if (this.#underWay === undefined) return this.#start()
    this.#next ??= this.#underWay.then(
      () => this.#start(),
      () => this.#start(),
    )
    return this.#next
  }

  #start(): Promise<Answer> {
    this.#next = undefined
    const underWay = this.ask().finally(() => {
      if (this.#underWay === underWay) this.#underWay = undefined
    })
    this.#underWay = underWay
    return underWay
  }
}
