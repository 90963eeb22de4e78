import {
  comparePositions,
  passesFilter,
  type PositionOrStart,
  type StoredEvent,
  type StreamFilter,
  type SubscriptionBatch,
} from '../ports/event-store.ts'

/** Events of a batch that a subscription gets from a tail. */
const BATCH_EVENTS = 1_000

type TailLimits = { readonly maxEvents: number; readonly maxBytes: number }

/** The events after `before`, up to and including `end`: all of the log's, or all that pass the tail's filter. */
export type TailChunk = {
  readonly before: PositionOrStart
  readonly end: PositionOrStart
  readonly events: readonly StoredEvent[]
  readonly bytes: number
}

/**
 * The newest events of a log in memory, without gaps, and the subscriptions that follow it. A subscription further
 * behind catches up from the store. Nothing is kept while no subscription follows.
 */
export class LogTail {
  #chunks: TailChunk[] = []
  /** Undefined while nothing adds events. */
  #start: PositionOrStart | undefined
  #end: PositionOrStart = 'start'
  #head: PositionOrStart = 'start'
  #events = 0
  #bytes = 0
  #isComplete = false
  readonly #followers = new Set<() => void>()

  constructor(private readonly limits: TailLimits) {}

  get isStarted(): boolean {
    return this.#start !== undefined
  }

  get isFollowed(): boolean {
    return this.#followers.size > 0
  }

  get end(): PositionOrStart {
    return this.#end
  }

  /** The newest position known to exist: after `end` while its events are on their way. */
  get head(): PositionOrStart {
    return comparePositions(this.#head, this.#end) > 0 ? this.#head : this.#end
  }

  /** From now on the events after this position are added. */
  startAt(position: PositionOrStart): void {
    this.#clear()
    this.#start = this.#end = position
  }

  /** From now on nothing is added, and subscriptions read the store. */
  stop(): void {
    this.#clear()
    this.#start = undefined
  }

  /** Nothing is added any more: a subscription that has the last event continues with the store. */
  complete(): void {
    this.#isComplete = true
  }

  /** Adds the log's next events. If some are missing in between, the tail then begins with these. */
  add(chunk: TailChunk): void {
    if (!this.isFollowed) return this.startAt(chunk.end)
    if (comparePositions(chunk.before, this.#end) !== 0) this.startAt(chunk.before)
    this.#chunks.push(chunk)
    this.#end = chunk.end
    this.#events += chunk.events.length
    this.#bytes += chunk.bytes
  }

  /**
   * Drops the oldest events above the limits.
   * @param neededAfter drops none after this position
   * @returns false if it had to keep events above the limits
   */
  trim(neededAfter = this.#end): boolean {
    const { maxEvents, maxBytes } = this.limits
    while (this.#events > maxEvents || this.#bytes > maxBytes) {
      const [oldest] = this.#chunks
      if (oldest === undefined || comparePositions(oldest.end, neededAfter) > 0) return false
      this.#chunks.shift()
      this.#start = oldest.end
      this.#events -= oldest.events.length
      this.#bytes -= oldest.bytes
    }
    return true
  }

  /** Records a position that exists: subscriptions before it have not caught up. */
  observeHead(position: PositionOrStart): void {
    if (comparePositions(position, this.#head) > 0) this.#head = position
  }

  covers(position: PositionOrStart): boolean {
    if (this.#start === undefined || comparePositions(position, this.#start) < 0) return false
    return !this.#isComplete || comparePositions(position, this.#end) < 0
  }

  /** The next events after a position that pass the filter, at most 1,000; undefined if they must be read from the store. */
  batchAfter(position: PositionOrStart, filter: StreamFilter | undefined): SubscriptionBatch | undefined {
    if (!this.covers(position)) return undefined
    const events: StoredEvent[] = []
    let end = position
    let last: StoredEvent | undefined
    const firstIndex = this.#chunks.findLastIndex(({ before }) => comparePositions(before, position) <= 0)
    for (const chunk of this.#chunks.slice(Math.max(0, firstIndex))) {
      for (const event of chunk.events) {
        if (comparePositions(event.position, position) <= 0) continue
        if (events.length === BATCH_EVENTS) return this.#batch(events, end, last)
        if (passesFilter(event, filter)) events.push(event)
        last = event
        end = event.position
      }
      if (comparePositions(chunk.end, end) > 0) end = chunk.end
    }
    return this.#batch(events, end, last)
  }

  /** @returns ends following */
  follow(wake: () => void): () => void {
    this.#followers.add(wake)
    return () => {
      this.#followers.delete(wake)
      if (!this.isFollowed && this.isStarted) this.startAt(this.#end)
    }
  }

  wakeFollowers(): void {
    for (const wake of this.#followers) wake()
  }

  #batch(events: readonly StoredEvent[], position: PositionOrStart, last: StoredEvent | undefined): SubscriptionBatch {
    const isLast = last !== undefined && comparePositions(last.position, position) === 0
    return { events, position, caughtUp: comparePositions(position, this.head) >= 0, ...(isLast && { last }) }
  }

  #clear(): void {
    this.#chunks = []
    this.#events = 0
    this.#bytes = 0
  }
}
