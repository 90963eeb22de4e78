/** Milliseconds by which the system's clock may be set while it counts as the same. */
const MAX_DRIFT_MS = 10_000

/** Milliseconds after which a clock that was set further is believed: 5 minutes. */
const ACCEPTED_AFTER_MS = 300_000

export type SteadyClockOptions = {
  /** Milliseconds since 1970, as the system has them. */
  readonly wall?: () => number
  /** Milliseconds that never go back, whatever happens to the clock. */
  readonly monotonic?: () => number
  /** Told that the system's clock was set by so many milliseconds, which is not believed yet. */
  readonly onJump?: (milliseconds: number) => void
}

/**
 * A clock that a jump of the system's does not move: one that is 30 days ahead for a minute would end secrets and tokens
 * before their time, and leave claims and due times in the far future. What was set by more than 10 s is believed when it
 * has lasted 5 minutes; until then time goes on as it passes.
 * @returns milliseconds since 1970, a whole number
 */
export function steadyClock({
  wall = () => Date.now(),
  monotonic = () => performance.now(),
  onJump = () => {},
}: SteadyClockOptions = {}): () => number {
  let offset = wall() - monotonic()
  let since: number | undefined
  return () => {
    const wallNow = wall()
    const passed = monotonic()
    const ahead = wallNow - (passed + offset)
    if (Math.abs(ahead) > MAX_DRIFT_MS) {
      if (since === undefined) onJump(Math.round(ahead))
      since ??= passed
      if (passed - since < ACCEPTED_AFTER_MS) return Math.round(passed + offset)
    }
    since = undefined
    offset = wallNow - passed
    return wallNow
  }
}
