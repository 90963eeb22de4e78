/** Milliseconds that a request waits for read models, in all: so it answers within 2 s, with what else it does. */
export const PATIENCE = 1_500

/** What is left of one request's patience, however often it waits. */
export class Patience {
  #left: number

  constructor(milliseconds = PATIENCE) {
    this.#left = milliseconds
  }

  get left(): number {
    return Math.max(0, this.#left)
  }

  /** Waits for something, and takes the time off. @param wait for at most so many milliseconds */
  async during<Result>(wait: (milliseconds: number) => Result | Promise<Result>): Promise<Result> {
    const started = performance.now()
    try {
      return await wait(this.left)
    } finally {
      this.#left -= performance.now() - started
    }
  }
}
