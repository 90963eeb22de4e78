import {
  comparePositions,
  StoreUnavailable,
  type SubscriptionBatch,
  type EventStore,
  type StreamFilter,
  type PositionOrStart,
  type StoredEvent,
  type Subscription,
} from '../../stores/ports/event-store.ts'
import { InterruptibleSleep } from '../../runtime/interruptible-sleep.ts'

export type SharedReadTiming = {
  /** How long a read waits before it begins, for other subscriptions that begin at the same position. */
  readonly gatherMs: number
  /** How long a read waits for slower readers before it drops them from the shared read. */
  readonly maxWaitMs: number
  /** Events buffered for slower readers and for those that join later. */
  readonly maxBufferedEvents: number
}

const TIMING: SharedReadTiming = { gatherMs: 20, maxWaitMs: 1_000, maxBufferedEvents: 8_000 }

/** Number of events in a batch, and milliseconds to collect them if they arrive one by one. */
const BATCH_SIZE = 1_000
const COALESCE_MS = 50

/**
 * Wraps an event store so that consumers which catch up share one read: each event is read and decoded once for all
 * that begin at the same position. At the head of the log each consumer continues with its own subscription, which both
 * stores serve from memory. A reader so slow that others would have to wait for it does the same.
 */
export function shareReads(store: EventStore, timing: SharedReadTiming = TIMING): EventStore {
  const reads = new Set<SharedRead>()

  async function join(from: PositionOrStart, filter: StreamFilter | undefined): Promise<SharedReader | undefined> {
    if (filter === undefined || !(await isBehind(store, from))) return undefined
    let read = [...reads].find((known) => known.canServe(from, filter))
    if (read === undefined) {
      read = new SharedRead(store, from, timing)
      reads.add(read)
      const ended = read
      void read.run().finally(() => reads.delete(ended))
    }
    return read.join(from, filter)
  }

  return { ...store, subscribe: (from, filter) => new SharedSubscription(store, from, filter, join) }
}

/** False if the store is unavailable: an unshared subscription waits for it. */
async function isBehind(store: EventStore, from: PositionOrStart): Promise<boolean> {
  try {
    return comparePositions(from, await store.head()) < 0
  } catch (error) {
    if (error instanceof StoreUnavailable) return false
    throw error
  }
}

/** Reads the shared read first, then its own subscription. */
class SharedSubscription implements Subscription {
  #stopped = false
  #reader: SharedReader | undefined
  #own: Subscription | undefined

  constructor(
    private readonly store: EventStore,
    private readonly from: PositionOrStart,
    private readonly filter: StreamFilter | undefined,
    private readonly join: (
      from: PositionOrStart,
      filter: StreamFilter | undefined,
    ) => Promise<SharedReader | undefined>,
  ) {}

  stop(): void {
    this.#stopped = true
    this.#reader?.leave()
    this.#own?.stop()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<SubscriptionBatch, void, undefined> {
    let position = this.from
    this.#reader = await this.join(position, this.filter)
    if (this.#reader !== undefined) {
      try {
        for (;;) {
          const batch = this.#stopped ? undefined : await this.#reader.next()
          if (batch === undefined) break
          position = batch.position
          yield batch
        }
      } finally {
        this.#reader.leave()
      }
    }
    if (this.#stopped) return
    this.#own = this.store.subscribe(position, this.filter)
    try {
      yield* this.#own
    } finally {
      this.#own.stop()
    }
  }
}

/** One read of the log up to its head, and its readers. */
class SharedRead {
  readonly #readers = new Set<SharedReader>()
  readonly #pause = new InterruptibleSleep()
  /** The newest pages; `from` is the position before the first. */
  #pages: SubscriptionBatch[] = []
  #from: PositionOrStart
  /** Events that arrived since the last page. */
  #arriving: (SubscriptionBatch & { readonly events: StoredEvent[] }) | undefined
  #handingOn: NodeJS.Timeout | undefined
  #prefixes: readonly string[] | undefined
  #subscription: Subscription | undefined
  #isOver = false
  #error: unknown

  constructor(
    private readonly store: EventStore,
    from: PositionOrStart,
    private readonly timing: SharedReadTiming,
  ) {
    this.#from = from
  }

  /** Whether the buffer has everything that a reader from this position needs. */
  canServe(from: PositionOrStart, { prefixes }: StreamFilter): boolean {
    if (this.#isOver) return false
    if (this.#prefixes === undefined) return comparePositions(from, this.#from) === 0
    const isKept = comparePositions(from, this.#from) >= 0 && comparePositions(from, this.#end) <= 0
    return isKept && prefixes.every((wanted) => this.#prefixes?.includes(wanted) === true)
  }

  join(from: PositionOrStart, filter: StreamFilter): SharedReader {
    const member = new SharedReader(this, from, filter)
    this.#readers.add(member)
    return member
  }

  leave(member: SharedReader): void {
    this.#readers.delete(member)
    if (this.#readers.size === 0) this.#subscription?.stop()
    this.#pause.wake()
  }

  onBatchesTaken(): void {
    this.#pause.wake()
  }

  /** The pages after a position; undefined if none have arrived yet. @throws the error that ended the read */
  batchesAfter(position: PositionOrStart): readonly SubscriptionBatch[] | 'over' | undefined {
    const found = this.#pages.filter((page) => comparePositions(page.position, position) > 0)
    if (found.length > 0) return found
    if (this.#error !== undefined) throw this.#error
    return this.#isOver ? 'over' : undefined
  }

  async run(): Promise<void> {
    await this.#pause.sleep(this.timing.gatherMs)
    if (this.#readers.size === 0) return void (this.#isOver = true)
    this.#prefixes = [...new Set([...this.#readers].flatMap((member) => member.filter.prefixes))]
    this.#subscription = this.store.subscribe(this.#from, { prefixes: this.#prefixes })
    try {
      for await (const batch of this.#subscription) {
        if (this.#readers.size === 0) return
        this.#add(batch)
        if (batch.caughtUp) return
        await this.#room()
      }
    } catch (error) {
      this.#error = error
    } finally {
      this.#subscription.stop()
      this.#handOn()
      this.#isOver = true
      for (const member of this.#readers) member.wake()
    }
  }

  /** Collects events that the server sends one by one into pages. */
  #add({ events, position, caughtUp }: SubscriptionBatch): void {
    if (comparePositions(position, this.#arriving?.position ?? this.#end) <= 0) return
    const before = this.#arriving?.events ?? []
    for (const event of events) before.push(event)
    this.#arriving = { events: before, position, caughtUp }
    if (this.#arriving.events.length >= BATCH_SIZE) this.#handOn()
    else this.#handingOn ??= setTimeout(() => this.#handOn(), COALESCE_MS)
  }

  #handOn(): void {
    clearTimeout(this.#handingOn)
    this.#handingOn = undefined
    if (this.#arriving === undefined) return
    this.#pages.push(this.#arriving)
    this.#arriving = undefined
    for (const member of this.#readers) member.wake()
  }

  get #end(): PositionOrStart {
    return this.#pages.at(-1)?.position ?? this.#from
  }

  /** Waits for slow readers, but only for `maxWaitMs`, so that the others reach the head. */
  async #room(): Promise<void> {
    const until = performance.now() + this.timing.maxWaitMs
    while (!this.#forget()) {
      const left = until - performance.now()
      if (left > 0) await this.#pause.sleep(left)
      else this.#leaveBehind()
    }
  }

  /**
   * Removes the oldest pages that every reader has taken, down to `maxBufferedEvents`. @returns false if a slow reader
   * prevents it
   */
  #forget(): boolean {
    let events = this.#pages.reduce((sum, page) => sum + page.events.length, 0)
    while (events > this.timing.maxBufferedEvents) {
      const [oldest] = this.#pages
      if (oldest === undefined) return true
      for (const member of this.#readers) if (comparePositions(member.position, oldest.position) < 0) return false
      this.#pages.shift()
      this.#from = oldest.position
      events -= oldest.events.length
    }
    return true
  }

  #leaveBehind(): void {
    const [oldest] = this.#pages
    if (oldest === undefined) return
    for (const member of this.#readers) if (comparePositions(member.position, oldest.position) < 0) member.leave()
  }
}

/** A reader of a shared read, at its own pace. */
class SharedReader {
  readonly #pause = new InterruptibleSleep()
  #hasLeft = false

  constructor(
    private readonly read: SharedRead,
    public position: PositionOrStart,
    readonly filter: StreamFilter,
  ) {}

  wake(): void {
    this.#pause.wake()
  }

  leave(): void {
    this.#hasLeft = true
    this.read.leave(this)
    this.#pause.wake()
  }

  /** All pages that have arrived, as one batch; undefined at the end, and for a reader that was dropped. */
  async next(): Promise<SubscriptionBatch | undefined> {
    for (;;) {
      if (this.#hasLeft) return undefined
      const found = this.read.batchesAfter(this.position)
      if (found === 'over') return undefined
      if (found !== undefined) return this.#take(found)
      await this.#pause.sleep(MAX_SLEEP_MS)
    }
  }

  #take(pages: readonly SubscriptionBatch[]): SubscriptionBatch {
    const events: StoredEvent[] = []
    let last: SubscriptionBatch | undefined
    for (const page of pages) {
      const passing = page.events.filter((event) => this.#passes(event))
      if (last !== undefined && events.length + passing.length > BATCH_SIZE) break
      events.push(...passing)
      last = page
    }
    const { position = this.position, caughtUp = false } = last ?? {}
    this.position = position
    this.read.onBatchesTaken()
    return { events, position, caughtUp }
  }

  #passes({ stream, position }: StoredEvent): boolean {
    return (
      comparePositions(position, this.position) > 0 && this.filter.prefixes.some((prefix) => stream.startsWith(prefix))
    )
  }
}

/** Milliseconds; `wake` ends the sleep earlier. */
const MAX_SLEEP_MS = 60_000
