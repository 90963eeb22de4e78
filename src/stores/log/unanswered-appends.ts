import { OutcomeUnknown, StoreUnavailable } from '../ports/event-store.ts'

/** Milliseconds from which on an append without an answer tells that others will have none either. */
const LONG = 1_000
/** Milliseconds behind one that tried: whoever waited for that one is refused, and has not waited twice. */
const PAUSE = 500

/**
 * A log that answers reads and no appends, as a leader that has lost the others: behind the first append that met it, one
 * at a time tries, and the others are refused at once, until one is answered.
 */
export class UnansweredAppends {
  #isMet = false
  #isTrying = false
  #triedAt = 0

  /** @param server as it is called in what is told */
  constructor(private readonly server: string) {}

  /** @throws StoreUnavailable, and what the append does */
  async pass<Answer>(append: () => Promise<Answer>): Promise<Answer> {
    if (!this.#isMet) return this.#meet(append)
    if (this.#isTrying || performance.now() - this.#triedAt < PAUSE) {
      throw new StoreUnavailable(`${this.server}: the log answers reads and no appends`, { store: this.server })
    }
    this.#isTrying = true
    try {
      return await this.#meet(append)
    } finally {
      this.#isTrying = false
      this.#triedAt = performance.now()
    }
  }

  async #meet<Answer>(append: () => Promise<Answer>): Promise<Answer> {
    const asked = performance.now()
    try {
      const answer = await append()
      this.#isMet = false
      return answer
    } catch (error) {
      const now = performance.now()
      if (error instanceof OutcomeUnknown && now - asked >= LONG) {
        this.#isMet = true
        this.#triedAt = now
      } else if (!(error instanceof OutcomeUnknown || error instanceof StoreUnavailable)) this.#isMet = false
      throw error
    }
  }
}
