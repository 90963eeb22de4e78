/** Milliseconds on the observer's own clock. */
type FailureDetectorTimings = {
  /** Silence after which the observer confirms that the store accepts writes. */
  readonly suspectedAfterMs: number
  /** Silence after which a holder counts as dead. */
  readonly deadAfterMs: number
  /**
   * Maximum silence counted between two observations: an observer that was stalled itself has not observed in between.
   */
  readonly maxObservationGapMs: number
}

type ObservedHeartbeat = {
  readonly heartbeat: string
  readonly at: number
  readonly silenceMs: number
  readonly silenceAtConfirmationMs: number | undefined
}

/**
 * Detects holders of leases or claims that have died: each holder changes its heartbeat regularly, and one whose
 * heartbeat stays the same for long enough is dead. Only the observer's own clock is used, so clocks of machines are
 * not compared, and only time in which the holder could write counts: while the store is unavailable or rejects writes,
 * a live holder is silent too. Therefore a holder counts as dead only some time after a write by the observer was
 * acknowledged.
 */
export class FailureDetector {
  readonly #heartbeats = new Map<string, ObservedHeartbeat>()

  /** @param now milliseconds of a clock that never goes back */
  constructor(
    private readonly timings: FailureDetectorTimings,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /**
   * Records one observation of a holder's heartbeat.
   * @returns 'doubted': write to the store, and call `confirmStoreWritable` once acknowledged
   */
  observe(name: string, heartbeat: string): 'alive' | 'doubted' | 'ended' {
    const now = this.now()
    const before = this.#heartbeats.get(name)
    if (before?.heartbeat !== heartbeat) {
      this.#heartbeats.set(name, { heartbeat, at: now, silenceMs: 0, silenceAtConfirmationMs: undefined })
      return 'alive'
    }
    const silenceMs = before.silenceMs + Math.min(now - before.at, this.timings.maxObservationGapMs)
    this.#heartbeats.set(name, { ...before, at: now, silenceMs })
    const { suspectedAfterMs, deadAfterMs } = this.timings
    if (before.silenceAtConfirmationMs === undefined) return silenceMs >= suspectedAfterMs ? 'doubted' : 'alive'
    return silenceMs - before.silenceAtConfirmationMs >= deadAfterMs - suspectedAfterMs ? 'ended' : 'alive'
  }

  /** The store accepts writes: silence counts from now on. */
  confirmStoreWritable(name: string): void {
    const observed = this.#heartbeats.get(name)
    if (observed !== undefined) this.#heartbeats.set(name, { ...observed, silenceAtConfirmationMs: observed.silenceMs })
  }

  /** The store is or was unavailable: forgets all silence. */
  reset(): void {
    this.#heartbeats.clear()
  }

  /** Nothing is held under this name any more. */
  forget(name: string): void {
    this.#heartbeats.delete(name)
  }
}
