import { performance } from 'node:perf_hooks'

/** The minimum number of bytes to receive in each time window. */
export type MinimumTransferRate = { readonly bytes: number; readonly milliseconds: number }

/** For request bodies: a client slower than 6.5 KB/s would occupy a connection for too long. */
export const MINIMUM_TRANSFER_RATE: MinimumTransferRate = { bytes: 64 * 1024, milliseconds: 10_000 }

/** Checks a minimum transfer rate in consecutive time windows. Time while paused does not count. */
export class TransferRateMonitor {
  #bytes = 0
  #remainingMs: number
  #resumedAt: number | undefined
  #timer: NodeJS.Timeout | undefined
  #stopped = false

  /** @param onTooSlow called once, at the end of a window with too few bytes */
  constructor(
    private readonly minimum: MinimumTransferRate,
    private readonly onTooSlow: () => void,
  ) {
    this.#remainingMs = minimum.milliseconds
    this.resume()
  }

  countBytes(bytes: number): void {
    this.#bytes += bytes
  }

  pause(): void {
    if (this.#resumedAt === undefined) return
    clearTimeout(this.#timer)
    this.#remainingMs -= performance.now() - this.#resumedAt
    this.#resumedAt = undefined
  }

  resume(): void {
    if (this.#resumedAt !== undefined || this.#stopped) return
    this.#resumedAt = performance.now()
    this.#timer = setTimeout(() => this.#endWindow(), Math.max(0, this.#remainingMs))
  }

  /** Permanently. */
  stop(): void {
    this.pause()
    this.#stopped = true
  }

  #endWindow(): void {
    if (this.#bytes < this.minimum.bytes) {
      this.stop()
      this.onTooSlow()
      return
    }
    this.#bytes = 0
    this.#remainingMs = this.minimum.milliseconds
    this.#resumedAt = undefined
    this.resume()
  }
}

/** The error message for a client that was too slow. */
export const tooSlowMessage = ({ bytes, milliseconds }: MinimumTransferRate): string =>
  `Received less than ${Math.round(bytes / 1024)} KiB of the body within ${milliseconds / 1000} s`
