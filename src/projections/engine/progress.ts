import { within } from '../../runtime/deadline.ts'
import { WakeablePause } from '../../runtime/wakeable-pause.ts'
import { comparePositions, type From } from '../../stores/ports/event-store.ts'
import type { ReadModel } from '../../stores/ports/read-store.ts'

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

/** Milliseconds between two looks at the checkpoint, while somebody waits. */
const INTERVAL = 5
/** Milliseconds that one look may take: a store that hangs must not make who waits wait longer than told. */
const LOOK = 400

/**
 * The progress of a model that another process writes: its checkpoint is looked at every few milliseconds, once for
 * all who wait, and not at all while nobody does.
 */
export class FollowedProgress implements Progress {
  readonly #seen = new OwnProgress()
  #waiting = 0
  #looking = false

  constructor(private readonly model: Pick<ReadModel, 'position'>) {}

  async reached(position: From, ms: number): Promise<boolean> {
    const until = performance.now() + ms
    this.#seen.advance(await this.#positionNow())
    const reached = this.#seen.reached(position, Math.max(0, until - performance.now()))
    if (!(reached instanceof Promise)) return reached
    this.#waiting++
    this.#schedule()
    try {
      return await reached
    } finally {
      this.#waiting--
    }
  }

  #schedule(): void {
    if (this.#looking) return
    this.#looking = true
    setTimeout(() => void this.#look(), INTERVAL)
  }

  async #look(): Promise<void> {
    this.#seen.advance(await this.#positionNow())
    this.#looking = false
    if (this.#waiting > 0) this.#schedule()
  }

  /** A store that is away or hangs is behind. */
  async #positionNow(): Promise<From> {
    try {
      const position = this.model.position()
      return position instanceof Promise ? await within(LOOK, position, () => 'start') : position
    } catch {
      // Whoever reads or writes the model is told.
      return 'start'
    }
  }
}
