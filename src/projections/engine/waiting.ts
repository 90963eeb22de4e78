import { comparePositions, StoreUnavailable, type From } from '../../stores/ports/event-store.ts'

type Waiter = { readonly position: From; readonly resolve: () => void }

/** Those who wait until a reader of the log has come to a position. */
export class Waiting {
  readonly #waiters = new Set<Waiter>()
  #reached: From | undefined

  /**
   * @param patience milliseconds; without it, as long as it takes
   * @throws StoreUnavailable when patience is over
   */
  until(position: From, patience?: number): Promise<void> {
    if (this.#reached !== undefined && comparePositions(this.#reached, position) >= 0) return Promise.resolve()
    return new Promise((done, fail) => {
      const tooLate = () => {
        this.#waiters.delete(waiter)
        fail(new StoreUnavailable(`The log was not read on within ${patience} ms`))
      }
      const timer = patience === undefined ? undefined : setTimeout(tooLate, patience).unref()
      const resolve = () => {
        clearTimeout(timer)
        done()
      }
      const waiter: Waiter = { position, resolve }
      this.#waiters.add(waiter)
    })
  }

  reached(position: From): void {
    this.#reached = position
    for (const waiter of this.#waiters) {
      if (comparePositions(waiter.position, position) > 0) continue
      this.#waiters.delete(waiter)
      waiter.resolve()
    }
  }
}
