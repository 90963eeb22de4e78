/** Milliseconds of difference up to which the system's clock is followed directly. */
const MAX_DRIFT_MS = 10_000

/** Milliseconds after which a larger change is accepted, and the time of a start that nothing confirms. */
const ACCEPTED_AFTER_MS = 300_000

type SteadyClockOptions = {
  /** The system's clock: milliseconds since 1970. */
  readonly wall?: () => number
  /** Milliseconds of a clock that never goes back. */
  readonly monotonic?: () => number
  /** Called with the size of a jump of the system's clock, before it is accepted. */
  readonly onJump?: (milliseconds: number) => void
}

export type SteadyClock = {
  /** Milliseconds since 1970, an integer. */
  readonly now: () => number
  /**
   * Whether the time may be relied on for what cannot be undone, such as deleting what has expired: a machine may start
   * with a wrong clock. True once the system's clock has agreed with itself for 5 minutes, or was confirmed.
   */
  readonly isSettled: () => boolean
  /**
   * Compares the clock with a time that is known to have passed, such as that of the newest event. A clock that is at most
   * 5 minutes ahead of it is settled.
   * @returns how many milliseconds the clock is ahead
   */
  readonly compareWith: (knownTime: number) => number
}

/**
 * A clock that ignores temporary jumps of the system's clock: a clock 30 days ahead for a minute would expire secrets
 * and tokens early, and put claims and due times far into the future. A jump of more than 10 s is accepted once it has
 * lasted 5 minutes; until then time continues from before the jump.
 */
export function steadyClock({
  wall = () => Date.now(),
  monotonic = () => performance.now(),
  onJump = () => {},
}: SteadyClockOptions = {}): SteadyClock {
  let offset = wall() - monotonic()
  let jumpedAt: number | undefined
  let unchangedSince = monotonic()
  let isSettled = false
  const now = () => {
    const wallNow = wall()
    const monotonicNow = monotonic()
    const drift = wallNow - (monotonicNow + offset)
    if (Math.abs(drift) > MAX_DRIFT_MS) {
      if (jumpedAt === undefined) onJump(Math.round(drift))
      jumpedAt ??= monotonicNow
      if (monotonicNow - jumpedAt < ACCEPTED_AFTER_MS) return Math.round(monotonicNow + offset)
      unchangedSince = jumpedAt
    } else if (jumpedAt !== undefined) unchangedSince = monotonicNow
    jumpedAt = undefined
    isSettled ||= monotonicNow - unchangedSince >= ACCEPTED_AFTER_MS
    offset = wallNow - monotonicNow
    return wallNow
  }
  return {
    now,
    isSettled() {
      now()
      return isSettled
    },
    compareWith(knownTime) {
      const aheadMs = now() - knownTime
      if (aheadMs <= ACCEPTED_AFTER_MS) isSettled = true
      return aheadMs
    },
  }
}
