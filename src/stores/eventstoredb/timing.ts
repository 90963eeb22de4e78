import { InterruptibleSleep } from '../../runtime/interruptible-sleep.ts'

/** Milliseconds, looked at whenever something begins. Tests shorten them; production has one set for all servers. */
export type Timing = {
  /** An append without an answer; the server itself gives up after 2 s, and says so within 3. */
  readonly appendTimeoutMs: number
  /** A read that brings nothing. */
  readonly readTimeoutMs: number
  /** A node of a cluster that is asked which one leads. */
  readonly gossipTimeoutMs: number
  /** The longest pause between two rounds of asking all nodes. */
  readonly maxDiscoveryPauseMs: number
  /** A subscription that brings nothing although there is something, or may be: it is looked at, or made anew. */
  readonly silenceMs: number
  /**
   * For which followers are left asleep while more is on its way: the server sends events one at a time, and
   * each batch costs every follower a transaction.
   */
  readonly gatheringMs: number
  /** Between two tries to subscribe: the first pause, doubled up to the longest. */
  readonly firstPauseMs: number
  readonly longestPauseMs: number
}

/** @param slower how many times as long a server may take to answer */
export const scaleTimeouts = (slower: number): Timing => ({
  ...DEFAULT_TIMING,
  appendTimeoutMs: DEFAULT_TIMING.appendTimeoutMs * slower,
  readTimeoutMs: DEFAULT_TIMING.readTimeoutMs * slower,
  gossipTimeoutMs: DEFAULT_TIMING.gossipTimeoutMs * slower,
})

export const DEFAULT_TIMING: Timing = {
  appendTimeoutMs: 4_000,
  readTimeoutMs: 3_000,
  gossipTimeoutMs: 1_000,
  maxDiscoveryPauseMs: 250,
  silenceMs: 1_000,
  gatheringMs: 2,
  firstPauseMs: 50,
  longestPauseMs: 2_000,
}

/** The pauses between tries: each longer than the one before, until something went well. */
export class BackOff {
  readonly #pause = new InterruptibleSleep()
  #next: number

  constructor(private readonly timing: Pick<Timing, 'firstPauseMs' | 'longestPauseMs'>) {
    this.#next = timing.firstPauseMs
  }

  /** Begins again with the first pause. */
  reset(): void {
    this.#next = this.timing.firstPauseMs
  }

  sleep(): Promise<void> {
    const ms = this.#next
    this.#next = Math.min(ms * 2, this.timing.longestPauseMs)
    return this.#pause.sleep(ms)
  }

  /** Ends the pause under way. */
  wake(): void {
    this.#pause.wake()
  }
}
