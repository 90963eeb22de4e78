import type { ServerResponse } from 'node:http'
import { performance } from 'node:perf_hooks'

/** Knows whether anybody is being served, for what lets requests go first. */
export class Traffic {
  #open = 0
  #last = -Infinity
  readonly #seen = new WeakSet<ServerResponse>()
  readonly #waiting = new WeakSet<ServerResponse>()

  /** Call it when the listener has returned: what is answered by then was never waiting. */
  saw(res: ServerResponse): void {
    this.#last = performance.now()
    if (res.writableEnded || res.destroyed || this.#waiting.has(res)) return
    this.#open++
    this.#seen.add(res)
    res.once('close', () => {
      if (this.#waiting.has(res)) return
      this.#open--
      this.#last = performance.now()
    })
  }

  /** A request that waits for something to happen, for as long as it likes, is nobody to give way to. */
  waits(res: ServerResponse): void {
    if (this.#waiting.has(res)) return
    this.#waiting.add(res)
    // One that was not seen yet has not been counted.
    if (this.#seen.has(res)) this.#open--
  }

  /** True where no request is under way and none was for so many milliseconds. */
  hasRested(milliseconds: number): boolean {
    return this.#open === 0 && performance.now() - this.#last >= milliseconds
  }
}
