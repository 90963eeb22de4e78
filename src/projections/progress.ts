import { comparePositions, type From } from '../stores/event-store.ts'

type Waiter = { readonly position: From; readonly settle: (reached: boolean) => void }

/** How far a read model has come, and who waits for it to come further. */
export interface Progress {
  /** Resolves true as soon as the model holds everything up to `position`, false after `ms` milliseconds. */
  reached(position: From, ms: number): boolean | Promise<boolean>
}

/** The progress of a model that this process writes itself: waiters are woken, nobody polls. */
export class OwnProgress implements Progress {
  #position: From = 'start'
  #waiters: Waiter[] = []

  get position(): From {
    return this.#position
  }

  advance(position: From): void {
    this.#position = position
    if (this.#waiters.length === 0) return
    const waiting = this.#waiters
    this.#waiters = waiting.filter((waiter) => comparePositions(waiter.position, position) > 0)
    for (const waiter of waiting) if (comparePositions(waiter.position, position) <= 0) waiter.settle(true)
  }

  reached(position: From, ms: number): boolean | Promise<boolean> {
    if (comparePositions(position, this.#position) <= 0) return true
    return new Promise((done) => {
      const waiter: Waiter = { position, settle: done }
      const timer = setTimeout(() => {
        this.#waiters = this.#waiters.filter((other) => other !== waiter)
        done(false)
      }, ms)
      timer.unref()
      this.#waiters.push({
        position,
        settle: (reached) => {
          clearTimeout(timer)
          done(reached)
        },
      })
    })
  }
}
