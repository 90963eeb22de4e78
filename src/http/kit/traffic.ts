import type { ServerResponse } from 'node:http'
import { performance } from 'node:perf_hooks'

/** Knows whether requests are being served, for work that gives way to them. */
export class Traffic {
  readonly #open = new Set<ServerResponse>()
  #last = -Infinity

  /** Call it with each request, before it is answered. */
  saw(res: ServerResponse): void {
    this.#last = performance.now()
    this.#open.add(res)
    res.once('close', () => {
      if (this.#open.delete(res)) this.#last = performance.now()
    })
  }

  /** Nothing gives way to a request that waits for something to happen, for as long as it likes. */
  waits(res: ServerResponse): void {
    this.#open.delete(res)
  }

  /** True where no request is under way and none was for so many milliseconds. */
  hasRested(milliseconds: number): boolean {
    return this.#open.size === 0 && performance.now() - this.#last >= milliseconds
  }
}
