import type { Log } from '../../runtime/log.ts'
import { StoreUnavailable } from '../../stores/ports/event-store.ts'

/** Milliseconds between two lines about what goes on failing. */
const EVERY = 60_000

/**
 * Tells the log of what fails again and again: when it begins, once a minute with how often it failed, and when it is
 * over. An hour of it would write a line every two seconds otherwise.
 */
export class Interruptions {
  #failures = 0
  #since = 0
  #toldAt = 0

  constructor(
    private readonly name: string,
    private readonly log: Pick<Log, 'warn' | 'info'>,
  ) {}

  failed(error: unknown): void {
    // Of a store that is away the log itself tells, once for all who meet it, and counts them.
    if (error instanceof StoreUnavailable) {
      this.log.warn({ err: error, name: this.name, repeats: true }, 'interrupted; trying again')
      return
    }
    const now = performance.now()
    this.#failures++
    if (this.#failures === 1) {
      this.#since = now
      this.#toldAt = now
      this.log.warn({ err: error, name: this.name }, 'interrupted; trying again')
    } else if (now - this.#toldAt >= EVERY) {
      this.#toldAt = now
      this.log.warn({ err: error, ...this.#figures(now) }, 'still interrupted; trying again')
    }
  }

  over(): void {
    if (this.#failures === 0) return
    this.log.info(this.#figures(performance.now()), 'goes on after an interruption')
    this.#failures = 0
  }

  #figures(now: number) {
    return { name: this.name, failures: this.#failures, seconds: Math.round((now - this.#since) / 1000) }
  }
}
