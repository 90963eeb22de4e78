/** Milliseconds on the watcher's own clock. */
export type FailureDetectorTimings = {
  /** Silence after which it is made sure that the store takes writes at all. */
  readonly suspectedAfterMs: number
  /** Silence after which a holder has ended. */
  readonly deadAfterMs: number
  /** As much counts between two looks at most: a watcher that stood still itself has watched nobody meanwhile. */
  readonly maxObservationGapMs: number
}

type ObservedHeartbeat = {
  readonly heartbeat: string
  readonly at: number
  readonly silenceMs: number
  readonly silenceAtConfirmationMs: number | undefined
}

/**
 * Watches whether those who hold something still live: each changes its sign again and again, and one whose sign stands
 * still for long enough has ended. Only the watcher's own clock counts, so no two machines' clocks are compared, and only
 * time in which the holder could have given a sign: while the store is away or takes no writes, a living one is silent too.
 * So nobody has ended before a write of the watcher was acknowledged, and a while after that.
 */
export class FailureDetector {
  readonly #watched = new Map<string, ObservedHeartbeat>()

  /** @param now milliseconds that never go back */
  constructor(
    private readonly timings: FailureDetectorTimings,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /**
   * One look, of many.
   * @returns `doubted`: write something, and tell by `sure` that it was acknowledged
   */
  observe(what: string, heartbeat: string): 'alive' | 'doubted' | 'ended' {
    const now = this.now()
    const before = this.#watched.get(what)
    if (before?.heartbeat !== heartbeat) {
      this.#watched.set(what, { heartbeat, at: now, silenceMs: 0, silenceAtConfirmationMs: undefined })
      return 'alive'
    }
    const silenceMs = before.silenceMs + Math.min(now - before.at, this.timings.maxObservationGapMs)
    this.#watched.set(what, { ...before, at: now, silenceMs })
    const { suspectedAfterMs, deadAfterMs } = this.timings
    if (before.silenceAtConfirmationMs === undefined) return silenceMs >= suspectedAfterMs ? 'doubted' : 'alive'
    return silenceMs - before.silenceAtConfirmationMs >= deadAfterMs - suspectedAfterMs ? 'ended' : 'alive'
  }

  /** The store takes writes: from here on silence counts. */
  confirmStoreWritable(what: string): void {
    const watched = this.#watched.get(what)
    if (watched !== undefined) this.#watched.set(what, { ...watched, silenceAtConfirmationMs: watched.silenceMs })
  }

  /** The store was away, or is: whoever is silent may live. */
  reset(): void {
    this.#watched.clear()
  }

  /** It is held no more. */
  forget(what: string): void {
    this.#watched.delete(what)
  }
}
