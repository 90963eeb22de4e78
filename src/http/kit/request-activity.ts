import type { ServerResponse } from 'node:http'
import { performance } from 'node:perf_hooks'

/** Tracks whether requests are in progress, for background work that yields to them. */
export class RequestActivity {
  /** Requests in progress. With a Set, minor garbage collections promoted dead responses (bench/RESULTS.md). */
  readonly #open = new WeakSet<ServerResponse>()
  #count = 0
  #lastActiveAt = -Infinity

  track(res: ServerResponse): void {
    this.#lastActiveAt = performance.now()
    this.#open.add(res)
    this.#count++
    res.once('close', () => {
      if (this.#remove(res)) this.#lastActiveAt = performance.now()
    })
  }

  /** Background work does not yield to long polls. */
  excludeLongPoll(res: ServerResponse): void {
    this.#remove(res)
  }

  /** True if there was no request in progress during the last `milliseconds`. */
  isIdleFor(milliseconds: number): boolean {
    return this.#count === 0 && performance.now() - this.#lastActiveAt >= milliseconds
  }

  #remove(res: ServerResponse): boolean {
    const wasOpen = this.#open.delete(res)
    if (wasOpen) this.#count--
    return wasOpen
  }
}
