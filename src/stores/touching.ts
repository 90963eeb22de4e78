import { TOUCH_INTERVAL } from './files.ts'

/** @param now seconds since 1970 */
type Touch = (now: number) => Promise<unknown>

/** Touches what is held, again and again, so that collectors of other processes see that it is in use. */
export class Touching {
  readonly #held = new Set<Touch>()
  #timer: NodeJS.Timeout | undefined

  /** @returns what ends the hold */
  hold(touch: Touch): () => void {
    // One touch of its own for each hold: the same file may be held several times.
    const own: Touch = (now) => touch(now)
    this.#held.add(own)
    this.#timer ??= setInterval(() => this.#touchAll(), TOUCH_INTERVAL).unref()
    return () => {
      this.#held.delete(own)
      if (this.#held.size === 0) this.stop()
    }
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  /** A file that is just being put back, or a handle just being closed, is touched the next time. */
  #touchAll(): void {
    const now = Date.now() / 1000
    for (const touch of this.#held) touch(now).catch(() => undefined)
  }
}
