import { TOUCH_INTERVAL_MS } from './ports/file-store.ts'

/** @param now seconds since 1970, different for every touch */
type TouchAction = (now: number) => Promise<unknown>

/** The time to write as a touch token. The random part, below one millisecond, makes tokens distinct. */
export const uniqueTouchTimeSeconds = (): number => (Date.now() + Math.random()) / 1000

/** Touches acquired files periodically, so that garbage collectors of other processes see that they are in use. */
export class FileKeepAlive {
  readonly #touchActions = new Set<TouchAction>()
  #timer: NodeJS.Timeout | undefined

  /** @returns a function that ends the keep-alive */
  hold(touch: TouchAction): () => void {
    // A new function for each acquisition: the same file may be acquired several times.
    const ownAction: TouchAction = (now) => touch(now)
    this.#touchActions.add(ownAction)
    this.#timer ??= setInterval(() => this.#touchAll(), TOUCH_INTERVAL_MS).unref()
    return () => {
      this.#touchActions.delete(ownAction)
      if (this.#touchActions.size === 0) this.stop()
    }
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  /** Skips failures, such as a file that is being restored or a handle that is being closed: the next round touches it. */
  #touchAll(): void {
    const now = uniqueTouchTimeSeconds()
    // `ensureStored` checks the file again before it is used and reports failures.
    for (const touch of this.#touchActions) touch(now).catch(() => undefined)
  }
}
