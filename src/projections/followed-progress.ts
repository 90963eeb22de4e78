import { comparePositions, type From } from '../stores/event-store.ts'
import type { ReadModel } from '../stores/read-store.ts'
import type { Progress } from './progress.ts'

/** Milliseconds between two looks at the checkpoint, while somebody waits. */
const INTERVAL = 5

type Waiter = { readonly position: From; readonly until: number; readonly settle: (reached: boolean) => void }

/**
 * The progress of a model that another process writes: its checkpoint is looked at every few milliseconds, once for
 * all who wait, and not at all while nobody does.
 */
export class FollowedProgress implements Progress {
  #waiters: Waiter[] = []
  #looking = false

  constructor(private readonly model: Pick<ReadModel, 'position'>) {}

  async reached(position: From, ms: number): Promise<boolean> {
    if (comparePositions(position, await this.model.position()) <= 0) return true
    if (ms <= 0) return false
    return new Promise((settle) => {
      this.#waiters.push({ position, until: performance.now() + ms, settle })
      this.#schedule()
    })
  }

  #schedule(): void {
    if (this.#looking) return
    this.#looking = true
    setTimeout(() => void this.#look(), INTERVAL)
  }

  async #look(): Promise<void> {
    this.#looking = false
    const reached = await this.#positionNow()
    const waiting = this.#waiters
    this.#waiters = []
    for (const waiter of waiting) {
      if (comparePositions(waiter.position, reached) <= 0) waiter.settle(true)
      else if (performance.now() >= waiter.until) waiter.settle(false)
      else this.#waiters.push(waiter)
    }
    if (this.#waiters.length > 0) this.#schedule()
  }

  /** A store that is away is behind; who waits is told so in time. */
  async #positionNow(): Promise<From> {
    try {
      return await this.model.position()
    } catch {
      return 'start'
    }
  }
}
