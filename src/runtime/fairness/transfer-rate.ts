import { performance } from 'node:perf_hooks'

/** What somebody has to send in a time, at least. */
export type MinimumTransferRate = { readonly bytes: number; readonly milliseconds: number }

/** Of a body: who sends slower than 6.5 KB a second keeps a place that others could have. */
export const MINIMUM_TRANSFER_RATE: MinimumTransferRate = { bytes: 64 * 1024, milliseconds: 10_000 }

/** Watches that somebody sends fast enough, in one window of time after the other. Time in which it is not heard does not count. */
export class TransferRateMonitor {
  #bytes = 0
  #left: number
  #since: number | undefined
  #timer: NodeJS.Timeout | undefined
  #stopped = false

  /** @param tooSlow called once, when a window is over in which too little came */
  constructor(
    private readonly minimum: MinimumTransferRate,
    private readonly onTooSlow: () => void,
  ) {
    this.#left = minimum.milliseconds
    this.resume()
  }

  countBytes(bytes: number): void {
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
    if (this.#bytes < this.minimum.bytes) {
      this.stop()
      this.onTooSlow()
      return
    }
    this.#bytes = 0
    this.#left = this.minimum.milliseconds
    this.#since = undefined
    this.resume()
  }
}

/** What is said to who was too slow. */
export const tooSlowMessage = ({ bytes, milliseconds }: MinimumTransferRate): string =>
  `Less than ${Math.round(bytes / 1024)} KiB of the body came within ${milliseconds / 1000} s`
