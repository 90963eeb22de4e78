import { TOUCH_INTERVAL_MS } from './ports/file-store.ts'

/** @param now seconds since 1970, unlike those of any other touch */
type TouchAction = (now: number) => Promise<unknown>

/** The time, to be written as a mark: what is random is less than any clock could tell apart. */
export const uniqueTouchTimeSeconds = (): number => (Date.now() + Math.random()) / 1000

/** Touches what is held, again and again, so that collectors of other processes see that it is in use. */
export class FileKeepAlive {
  readonly #held = new Set<TouchAction>()
  #timer: NodeJS.Timeout | undefined

  /** @returns what ends the hold */
  hold(touch: TouchAction): () => void {
    // One touch of its own for each hold: the same file may be held several times.
    const own: TouchAction = (now) => touch(now)
    this.#held.add(own)
    this.#timer ??= setInterval(() => this.#touchAll(), TOUCH_INTERVAL_MS).unref()
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
    const now = uniqueTouchTimeSeconds()
    // Whoever holds a file makes sure of it once more before it is used (`ensure`), and is told there.
    for (const touch of this.#held) touch(now).catch(() => undefined)
  }
}
