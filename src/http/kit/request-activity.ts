import type { ServerResponse } from 'node:http'
import { performance } from 'node:perf_hooks'

/** Knows whether requests are being served, for work that gives way to them. */
export class RequestActivity {
  /** Those that are under way. With a Set in its place, minor garbage collections promoted dead responses (bench/RESULTS.md). */
  readonly #open = new WeakSet<ServerResponse>()
  #count = 0
  #last = -Infinity

  /** Call it with each request, before it is answered. */
  track(res: ServerResponse): void {
    this.#last = performance.now()
    this.#open.add(res)
    this.#count++
    res.once('close', () => {
      if (this.#remove(res)) this.#last = performance.now()
    })
  }

  /** Nothing gives way to a request that waits for something to happen, for as long as it likes. */
  excludeLongPoll(res: ServerResponse): void {
    this.#remove(res)
  }

  /** True where no request is under way and none was for so many milliseconds. */
  isIdleFor(milliseconds: number): boolean {
    return this.#count === 0 && performance.now() - this.#last >= milliseconds
  }

  /** @returns false where it had left before */
  #remove(res: ServerResponse): boolean {
    const isOpen = this.#open.delete(res)
    if (isOpen) this.#count--
    return isOpen
  }
}
