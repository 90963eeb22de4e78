import { WakeablePause } from '../../runtime/wakeable-pause.ts'

/** Milliseconds, looked at whenever something begins. Tests shorten them; production has one set for all servers. */
export type Timing = {
  /** An append without an answer; the server itself gives up after 2 s, and says so within 3. */
  readonly append: number
  /** A read that brings nothing. */
  readonly read: number
  /** A node of a cluster that is asked which one leads. */
  readonly gossip: number
  /** The longest pause between two rounds of asking all nodes. */
  readonly round: number
  /** A subscription that brings nothing although there is something, or may be: it is looked at, or made anew. */
  readonly silence: number
  /**
   * For which followers are left asleep while more is on its way: the server sends events one at a time, and
   * each batch costs every follower a transaction.
   */
  readonly gathering: number
  /** Between two tries to subscribe: the first pause, doubled up to the longest. */
  readonly firstPause: number
  readonly longestPause: number
}

/** @param slower how many times as long a server may take to answer */
export const timingFor = (slower: number): Timing => ({
  ...TIMING,
  append: TIMING.append * slower,
  read: TIMING.read * slower,
  gossip: TIMING.gossip * slower,
})

export const TIMING: Timing = {
  append: 4_000,
  read: 3_000,
  gossip: 1_000,
  round: 250,
  silence: 1_000,
  gathering: 2,
  firstPause: 50,
  longestPause: 2_000,
}

/** The pauses between tries: each longer than the one before, until something went well. */
export class Rest {
  readonly #pause = new WakeablePause()
  #next: number

  constructor(private readonly timing: Pick<Timing, 'firstPause' | 'longestPause'>) {
    this.#next = timing.firstPause
  }

  /** Begins again with the first pause. */
  short(): void {
    this.#next = this.timing.firstPause
  }

  sleep(): Promise<void> {
    const ms = this.#next
    this.#next = Math.min(ms * 2, this.timing.longestPause)
    return this.#pause.sleep(ms)
  }

  /** Ends the pause under way. */
  wake(): void {
    this.#pause.wake()
  }
}
