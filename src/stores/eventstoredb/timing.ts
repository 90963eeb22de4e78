import type { BackOffTiming } from '../log/back-off.ts'

/**
 * Milliseconds, read at the start of each operation. Tests shorten them; production uses one set for all servers. The
 * back-off is that between attempts to subscribe.
 */
export type Timing = BackOffTiming & {
  /** Timeout of an append. The server itself gives up after 2 s and reports it within 3 s. */
  readonly appendTimeoutMs: number
  /** Timeout of a read without data. */
  readonly readTimeoutMs: number
  /** Timeout of asking a cluster's node for the leader. */
  readonly gossipTimeoutMs: number
  readonly maxDiscoveryPauseMs: number
  /** Silence after which a subscription is checked for missing events and possibly renewed. */
  readonly silenceMs: number
  /**
   * Time for which followers are not woken while more events are arriving: the server sends events one by one, and each
   * batch costs every follower a transaction.
   */
  readonly gatheringMs: number
}

/** @param timeoutFactor factor for the timeouts of calls */
export const scaleTimeouts = (timeoutFactor: number): Timing => ({
  ...DEFAULT_TIMING,
  appendTimeoutMs: DEFAULT_TIMING.appendTimeoutMs * timeoutFactor,
  readTimeoutMs: DEFAULT_TIMING.readTimeoutMs * timeoutFactor,
  gossipTimeoutMs: DEFAULT_TIMING.gossipTimeoutMs * timeoutFactor,
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
