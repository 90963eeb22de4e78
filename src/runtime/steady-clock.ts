/** Milliseconds by which the system's clock may be set while it counts as the same. */
const DRIFT = 10_000

/** Milliseconds after which a clock that was set further is believed: 5 minutes. */
const BELIEVED = 300_000

export type SteadyClockOptions = {
  /** Milliseconds since 1970, as the system has them. */
  readonly wall?: () => number
  /** Milliseconds that never go back, whatever happens to the clock. */
  readonly monotonic?: () => number
  /** Told that the system's clock was set by so many milliseconds, which is not believed yet. */
  readonly jumped?: (milliseconds: number) => void
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
  jumped = () => {},
}: SteadyClockOptions = {}): () => number {
  let offset = wall() - monotonic()
  let since: number | undefined
  return () => {
    const told = wall()
    const passed = monotonic()
    const ahead = told - (passed + offset)
    if (Math.abs(ahead) > DRIFT) {
      if (since === undefined) jumped(Math.round(ahead))
      since ??= passed
      if (passed - since < BELIEVED) return Math.round(passed + offset)
    }
    since = undefined
    offset = told - passed
    return told
  }
}
