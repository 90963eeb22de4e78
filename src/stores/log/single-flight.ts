/**
 * Asks a question for all who want to know at the same time. Nobody gets an answer to a question that was asked before
 * they came, so what they know to have happened is in it.
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
