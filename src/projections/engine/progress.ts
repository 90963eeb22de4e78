import { WakeablePause } from '../../runtime/wakeable-pause.ts'
import { comparePositions, type From } from '../../stores/ports/event-store.ts'

/** `until` is a time of performance.now(). */
type Waiter = { readonly position: From; readonly until: number; readonly settle: (reached: boolean) => void }

/** How far a read model has come, and who waits for it to come further. */
export interface Progress {
  /** Resolves true as soon as the model holds everything up to `position`, false after `ms` milliseconds, which may be Infinity. */
  reached(position: From, ms: number): boolean | Promise<boolean>
}

/** The progress of a model that this process writes itself: waiters are woken, nobody polls. */
export class OwnProgress implements Progress {
  #position: From = 'start'
  #waiters: Waiter[] = []
  readonly #pause = new WakeablePause()
  #timer: { readonly handle: NodeJS.Timeout; readonly at: number } | undefined

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
    if (ms <= 0) return false
    const until = performance.now() + ms
    this.wake()
    return new Promise((settle) => {
      this.#waiters.push({ position, until, settle })
      this.#expireAt(until)
    })
  }

  /** Resolves after `ms` milliseconds, or as soon as somebody waits. */
  async unlessAwaited(ms: number): Promise<void> {
    if (ms > 0 && this.#waiters.length === 0) await this.#pause.sleep(ms)
  }

  /** Ends such a pause. */
  wake(): void {
    this.#pause.wake()
  }

  /** One timer serves all: most who wait do so for a millisecond, and a timer for each would never run. */
  #expireAt(time: number): void {
    if (time === Number.POSITIVE_INFINITY || (this.#timer !== undefined && this.#timer.at <= time)) return
    clearTimeout(this.#timer?.handle)
    const handle = setTimeout(() => this.#expire(), Math.max(0, time - performance.now())).unref()
    this.#timer = { handle, at: time }
  }

  #expire(): void {
    this.#timer = undefined
    const now = performance.now()
    const waiting = this.#waiters
    this.#waiters = waiting.filter((waiter) => waiter.until > now)
    for (const waiter of waiting) if (waiter.until <= now) waiter.settle(false)
    if (this.#waiters.length > 0) this.#expireAt(Math.min(...this.#waiters.map((waiter) => waiter.until)))
  }
}
