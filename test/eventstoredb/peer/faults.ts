import { pace } from '../../pace.ts'
import { DEFAULT_KEEP_ALIVE } from './keep-alive.ts'

/**
 * What happens to an append:
 * - `conflict`: rejected with a wrong version, not stored
 * - `timeout, lost` and `timeout, stored`: the response is a timeout
 * - `silent, lost` and `silent, stored`: no response
 * - `late`: no response; stored when `storeLateAppends()` is called
 */
export type PeerAppendFault =
  'conflict' | 'timeout, lost' | 'timeout, stored' | 'silent, lost' | 'silent, stored' | 'late'

/**
 * Concurrent reads of single events of $all with which the server stalls. 23.10.6 and 26.1.0 stalled with 13 to 20 on two
 * cores; fewer here, so that a process that sends its reads at once is noticed, and several that send one at a time are not.
 */
const STALLING_READS = 4
/** Milliseconds that a read of single events of $all takes (measured: 2 to 15). */
const READ_OF_ALL = 2

/** Faults of the peer, all off at the start. */
export class Faults {
  /** Faults of the next appends, one each. */
  readonly appends: PeerAppendFault[] = []
  /** Calls get no response and subscriptions no events; connections stay open. */
  silent = false
  /** Only subscriptions are silent. */
  silentSubscriptions = false
  /** Only reads of streams get no response. */
  silentStreamReads = false
  /** The streams whose reads got no response because of that. */
  readonly unansweredStreams: string[] = []
  /**
   * Milliseconds that the server's readers stall when too many single events of $all are read at once; their reads, and those
   * that arrive meanwhile, get their responses together. 0 for never; measured: 1,000 to 5,000.
   */
  stallMs = 0
  /** Number of stalls so far. */
  stalls = 0
  /** Positions of $all from which single events were read forwards so far. */
  readonly positionsRead: bigint[] = []
  /** When keep-alive pings are sent on connections opened from now on, and connections closed. */
  keepAlive = DEFAULT_KEEP_ALIVE
  /** Subscriptions are denied, as for a user who may read streams only; all other calls work. */
  refusesSubscriptions = false
  /** Every n-th event is sent twice to subscriptions; 0 for none. */
  duplicateEvery = 0
  /** Milliseconds that each stream read takes; reads run one after another. */
  readPauseMs = 0
  /** Milliseconds between two messages of a subscription. */
  messageIntervalMs = 0
  /** Calls fail with "Server Is Not Ready", as on a node that has just started. */
  notReady = false
  /**
   * False as on servers before 23.10, which do not send that a subscription has caught up:
   * https://github.com/kurrent-io/KurrentDB/pull/3899
   */
  sendsCaughtUp = true
  /** Appends get their responses when this number of them waits, as on a server that writes them to the disk together. */
  responsesTogether = 1
  readonly #waitingResponses: (() => void)[] = []
  #lastRead: Promise<void> = Promise.resolve()
  #readsOfAll = 0
  #stall: Promise<void> | undefined
  /** Milliseconds that the server's clock is ahead of its clients'. */
  clockAheadMs = 0
  /** Number of calls of `silenceSubscriptions()`; subscriptions that began before the latest one are silent. */
  silenceCount = 0
  /** Number of subscriptions so far. */
  subscriptions = 0
  /** Number of read calls so far, including subscriptions. */
  reads = 0
  /** The most stream reads in progress at once. */
  maxConcurrentReads = 0
  #concurrentReads = 0
  readonly #lateAppends: (() => void)[] = []

  /**
   * Silences the open subscriptions permanently: they get neither events nor checkpoints. Their calls and connections stay open,
   * keepalives get responses, and new subscriptions work.
   */
  silenceSubscriptions(): void {
    this.silenceCount++
  }

  /** Behaves as 23.10.6 and 26.1.0 on two cores, which stall when their clients read many single events of $all at once. */
  stallOnConcurrentReads(): void {
    this.stallMs = 4_000
  }

  /** Responds now, or together with others (see `responsesTogether`). */
  respondTogether(respond: () => void): void {
    if (this.#waitingResponses.push(respond) < this.responsesTogether) return
    for (const one of this.#waitingResponses.splice(0)) one()
  }

  /** Responds to a read of single events of $all: now, or after a stall (see `stallMs`). */
  readOfAll(respond: () => void): void {
    if (this.stallMs === 0) return respond()
    void this.#readOfAll().then(respond)
  }

  async #readOfAll(): Promise<void> {
    if (++this.#readsOfAll >= STALLING_READS && this.#stall === undefined) {
      this.stalls++
      this.#stall = pace(this.stallMs).then(() => (this.#stall = undefined))
    }
    await pace(READ_OF_ALL)
    await this.#stall
    this.#readsOfAll--
  }

  /** Responds to a read of a stream: now, or after the earlier ones (see `readPauseMs`) or a stall. */
  readOfStream(name: string, respond: () => void): void {
    if (this.silentStreamReads) return void this.unansweredStreams.push(name)
    if (this.#stall !== undefined) return void this.#stall.then(respond)
    if (this.readPauseMs === 0) return respond()
    this.maxConcurrentReads = Math.max(this.maxConcurrentReads, ++this.#concurrentReads)
    const respondNow = () => {
      this.#concurrentReads--
      respond()
    }
    this.#lastRead = this.#lastRead.then(() => pace(this.readPauseMs)).then(respondNow)
  }

  addLateAppend(store: () => void): void {
    this.#lateAppends.push(store)
  }

  /** Stores the late appends. */
  storeLateAppends(): void {
    for (const store of this.#lateAppends.splice(0)) store()
  }
}
