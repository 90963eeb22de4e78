import { pace } from '../../pace.ts'

/**
 * What happens to an append:
 * - `conflict`: answered with a wrong version, and not stored
 * - `timeout, lost` and `timeout, stored`: answered with a timeout
 * - `silent, lost` and `silent, stored`: never answered
 * - `late`: never answered, and stored when `land()` is called
 */
export type AppendFault = 'conflict' | 'timeout, lost' | 'timeout, stored' | 'silent, lost' | 'silent, stored' | 'late'

/** What the peer does on purpose. Everything is off at the start. */
export class Faults {
  /** The next appends meet these, one each. */
  readonly appends: AppendFault[] = []
  /** No call is answered any more, and subscriptions say nothing; connections stay. */
  silent = false
  /** Only subscriptions say nothing. */
  silentSubscriptions = false
  /** Subscriptions are refused, as of a user who may read streams only; everything else is answered. */
  refusesSubscriptions = false
  /** Every so many-th event comes twice in subscriptions; 0 for never. */
  duplicateEvery = 0
  /** Milliseconds that each reading of a stream takes, one behind another. */
  readPause = 0
  /** Milliseconds between two messages of a subscription. */
  subscriptionPause = 0
  /** Answers "Server Is Not Ready", as a node does that has just started. */
  notReady = false
  /** As servers before 23.10, which don't tell that a subscription has caught up. */
  tellsCaughtUp = true
  /** As servers before 22.6, which don't tell the place among all events of one that is read by its stream. */
  tellsPlaces = true
  /** Appends are answered when so many wait for it, as by a server that writes them to the disk together. */
  answersTogether = 1
  readonly #unanswered: (() => void)[] = []
  #reading: Promise<void> = Promise.resolve()
  /** Milliseconds that the server's clock is ahead of its clients'. */
  clockAhead = 0
  /** What server features give as the version. */
  version = '23.10.6'
  /** Subscriptions that began before this many `hush()` are dead without knowing it. */
  hushed = 0
  /** Subscriptions and calls that read that were begun so far, and the most reads of streams that took their time at once. */
  subscriptions = 0
  reads = 0
  mostReads = 0
  #readsNow = 0
  readonly #late: (() => void)[] = []

  /**
   * From here on the subscriptions that are open say nothing, neither events nor checkpoints, for as long as they live;
   * their calls and connections stay open, keepalives are answered, and new subscriptions are served.
   */
  hush(): void {
    this.hushed++
  }

  /** As 21.10: https://github.com/kurrent-io/KurrentDB/pull/3459 came with 22.6, caughtUp with 23.10. */
  answerAs2110(): void {
    this.version = '21.10.11'
    this.tellsCaughtUp = false
    this.tellsPlaces = false
  }

  /** Answers now, or with others. */
  answer(respond: () => void): void {
    if (this.#unanswered.push(respond) < this.answersTogether) return
    for (const one of this.#unanswered.splice(0)) one()
  }

  /** At once, or behind the readings that came before. */
  read(respond: () => void): void {
    if (this.readPause === 0) return respond()
    this.mostReads = Math.max(this.mostReads, ++this.#readsNow)
    const answer = () => {
      this.#readsNow--
      respond()
    }
    this.#reading = this.#reading.then(() => pace(this.readPause)).then(answer)
  }

  later(store: () => void): void {
    this.#late.push(store)
  }

  /** Stores what is late. */
  land(): void {
    for (const store of this.#late.splice(0)) store()
  }
}
