import { performance } from 'node:perf_hooks'

/** What somebody has to send in a time, at least. */
export type LeastPace = { readonly bytes: number; readonly milliseconds: number }

/** Of a body: who sends slower than 6.5 KB a second keeps a place that others could have. */
export const LEAST_PACE: LeastPace = { bytes: 64 * 1024, milliseconds: 10_000 }

/** Watches that somebody sends fast enough, in one window of time after the other. Time in which it is not heard does not count. */
export class Pace {
  #bytes = 0
  #left: number
  #since: number | undefined
  #timer: NodeJS.Timeout | undefined
  #stopped = false

  /** @param tooSlow called once, when a window is over in which too little came */
  constructor(
    private readonly least: LeastPace,
    private readonly tooSlow: () => void,
  ) {
    this.#left = least.milliseconds
    this.resume()
  }

  took(bytes: number): void {
    this.#bytes += bytes
  }

  pause(): void {
    if (this.#since === undefined) return
    clearTimeout(this.#timer)
    this.#left -= performance.now() - this.#since
    this.#since = undefined
  }

  resume(): void {
    if (this.#since !== undefined || this.#stopped) return
    this.#since = performance.now()
    this.#timer = setTimeout(() => this.#over(), Math.max(0, this.#left))
  }

  /** For good. */
  stop(): void {
    this.pause()
    this.#stopped = true
  }

  #over(): void {
    if (this.#bytes < this.least.bytes) {
      this.stop()
      this.tooSlow()
      return
    }
    this.#bytes = 0
    this.#left = this.least.milliseconds
    this.#since = undefined
    this.resume()
  }
}

/** What is said to who was too slow. */
export const tooSlowMessage = ({ bytes, milliseconds }: LeastPace): string =>
  `Less than ${Math.round(bytes / 1024)} KiB of the body came within ${milliseconds / 1000} s`
