import { TOUCH_INTERVAL } from './ports/files.ts'

/** @param now seconds since 1970, unlike those of any other touch */
type Touch = (now: number) => Promise<unknown>

/** The time, to be written as a mark: what is random is less than any clock could tell apart. */
export const markedNow = (): number => (Date.now() + Math.random()) / 1000

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
    const now = markedNow()
    // Whoever holds a file makes sure of it once more before it is used (`ensure`), and is told there.
    for (const touch of this.#held) touch(now).catch(() => undefined)
  }
}
