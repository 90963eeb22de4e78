/** Milliseconds of difference up to which the system's clock is followed directly. */
const MAX_DRIFT_MS = 10_000

/** Milliseconds after which a larger change is accepted. */
const ACCEPTED_AFTER_MS = 300_000

export type SteadyClockOptions = {
  /** The system's clock: milliseconds since 1970. */
  readonly wall?: () => number
  /** Milliseconds of a clock that never goes back. */
  readonly monotonic?: () => number
  /** Called with the size of a jump of the system's clock, before it is accepted. */
  readonly onJump?: (milliseconds: number) => void
}

/**
 * A clock that ignores temporary jumps of the system's clock: a clock 30 days ahead for a minute would expire secrets
 * and tokens early, and put claims and due times far into the future. A jump of more than 10 s is accepted once it has
 * lasted 5 minutes; until then time continues from before the jump.
 * @returns milliseconds since 1970, an integer
 */
export function steadyClock({
  wall = () => Date.now(),
  monotonic = () => performance.now(),
  onJump = () => {},
}: SteadyClockOptions = {}): () => number {
  let offset = wall() - monotonic()
  let jumpedAt: number | undefined
  return () => {
    const wallNow = wall()
    const monotonicNow = monotonic()
    const drift = wallNow - (monotonicNow + offset)
    if (Math.abs(drift) > MAX_DRIFT_MS) {
      if (jumpedAt === undefined) onJump(Math.round(drift))
      jumpedAt ??= monotonicNow
      if (monotonicNow - jumpedAt < ACCEPTED_AFTER_MS) return Math.round(monotonicNow + offset)
    }
    jumpedAt = undefined
    offset = wallNow - monotonicNow
    return wallNow
  }
}
