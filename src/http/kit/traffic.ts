import type { ServerResponse } from 'node:http'
import { performance } from 'node:perf_hooks'

/** Knows whether anybody is being served, for what lets requests go first. */
export class Traffic {
  #open = 0
  #last = -Infinity

  /** Call it when the listener has returned: what is answered by then was never waiting. */
  saw(res: ServerResponse): void {
    this.#last = performance.now()
    if (res.writableEnded || res.destroyed) return
    this.#open++
    res.once('close', () => {
      this.#open--
      this.#last = performance.now()
    })
  }

  /** True where no request is under way and none was for so many milliseconds. */
  hasRested(milliseconds: number): boolean {
    return this.#open === 0 && performance.now() - this.#last >= milliseconds
  }
}
