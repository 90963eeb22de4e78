import { withTimeout } from '../../runtime/deadline.ts'
import { InterruptibleSleep } from '../../runtime/interruptible-sleep.ts'
import { comparePositions, type PositionOrStart } from '../../stores/ports/event-store.ts'
import type { ReadModel } from '../../stores/ports/read-store.ts'

/** Milliseconds that a request waits for read models, in total: with its other work it responds within 2 s. */
export const READ_MODEL_WAIT_MS = 1_500

/** What remains of one request's waiting time, over several waits. */
export class WaitBudget {
  #remainingMs: number

  constructor(milliseconds = READ_MODEL_WAIT_MS) {
    this.#remainingMs = milliseconds
  }

  get remainingMs(): number {
    return Math.max(0, this.#remainingMs)
  }

  /** Waits for something and deducts the time. @param wait waits for at most the given milliseconds */
  async spendOn<Result>(wait: (milliseconds: number) => Promise<Result>): Promise<Result> {
    const startedAt = performance.now()
    try {
      return await wait(this.remainingMs)
    } finally {
      this.#remainingMs -= performance.now() - startedAt
    }
  }
}

type PositionWaiter = { readonly position: PositionOrStart; readonly settle: (reached: boolean) => void }

export interface ProjectionProgress {
  /**
   * Resolves true once the model has everything up to `position`, false after `ms` milliseconds, which may be Infinity.
   */
  waitForPosition(position: PositionOrStart, ms: number): Promise<boolean>
}

/** The progress of a model that this process projects: it wakes waiters, without polling. */
export class LocalProgress implements ProjectionProgress {
  #position: PositionOrStart = 'start'
  readonly #waiters = new Set<PositionWaiter>()
  readonly #pause = new InterruptibleSleep()

  get position(): PositionOrStart {
    return this.#position
  }

  advance(position: PositionOrStart): void {
    this.#position = position
    for (const waiter of this.#waiters) if (comparePositions(waiter.position, position) <= 0) waiter.settle(true)
  }

  async waitForPosition(position: PositionOrStart, ms: number): Promise<boolean> {
    if (comparePositions(position, this.#position) <= 0) return true
    if (ms <= 0) return false
    this.wake()
    return new Promise((resolve) => {
      const timer = ms === Number.POSITIVE_INFINITY ? undefined : setTimeout(() => waiter.settle(false), ms).unref()
      const waiter: PositionWaiter = {
        position,
        settle: (reached) => {
          clearTimeout(timer)
          this.#waiters.delete(waiter)
          resolve(reached)
        },
      }
      this.#waiters.add(waiter)
    })
  }

  /** Resolves after `ms` milliseconds, or as soon as something waits for a position. */
  async pauseUnlessAwaited(ms: number): Promise<void> {
    if (ms > 0 && this.#waiters.size === 0) await this.#pause.sleep(ms)
  }

  wake(): void {
    this.#pause.wake()
  }
}

/** Milliseconds between two polls of the checkpoint while something waits. */
const POLL_INTERVAL_MS = 5
/** Milliseconds that one poll may take, so that a hanging store does not prolong the wait. */
const POLL_TIMEOUT_MS = 400

/**
 * The progress of a model that another process projects: polls its checkpoint every few milliseconds, once for all
 * waiters, and only while there are any.
 */
export class PolledProgress implements ProjectionProgress {
  readonly #polled = new LocalProgress()
  #waiterCount = 0
  #isPolling = false

  constructor(private readonly model: Pick<ReadModel, 'position'>) {}

  async waitForPosition(position: PositionOrStart, ms: number): Promise<boolean> {
    const until = performance.now() + ms
    this.#polled.advance(await this.#currentPosition())
    this.#waiterCount++
    this.#schedulePoll()
    try {
      return await this.#polled.waitForPosition(position, Math.max(0, until - performance.now()))
    } finally {
      this.#waiterCount--
    }
  }

  #schedulePoll(): void {
    if (this.#isPolling) return
    this.#isPolling = true
    setTimeout(() => void this.#poll(), POLL_INTERVAL_MS)
  }

  async #poll(): Promise<void> {
    this.#polled.advance(await this.#currentPosition())
    this.#isPolling = false
    if (this.#waiterCount > 0) this.#schedulePoll()
  }

  /** An unavailable or hanging store counts as behind. */
  async #currentPosition(): Promise<PositionOrStart> {
    try {
      return await withTimeout(POLL_TIMEOUT_MS, this.model.position(), () => 'start')
    } catch {
      // Reads and writes of the model report the error.
      return 'start'
    }
  }
}
