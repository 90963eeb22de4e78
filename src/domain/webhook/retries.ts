/** Milliseconds from one failure to the next try; behind them, every six hours. */
const PAUSES: readonly number[] = [5_000, 30_000, 120_000, 600_000, 3_600_000]
const LAST_PAUSE = 6 * 3_600_000

/** Milliseconds without a success after which a webhook is failing: the next failure behind that pauses it. */
const FAILING_AFTER = 3 * 24 * 3_600_000

/** Failures without a success between them. @property since when the first was, in milliseconds since 1970 */
export type Failures = { readonly count: number; readonly since: number }

/** What becomes of a webhook by one more failure. */
export type AfterFailure = {
  readonly failures: Failures
  /** When it is tried again, in milliseconds since 1970. */
  readonly next: number
  readonly isLong: boolean
}

export function afterFailure(before: Failures | null, now: number): AfterFailure {
  const failures = { count: (before?.count ?? 0) + 1, since: before?.since ?? now }
  const pause = PAUSES[failures.count - 1] ?? LAST_PAUSE
  return { failures, next: now + pause, isLong: now - failures.since >= FAILING_AFTER }
}
