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
    let read = [...reads].find((candidate) => candidate.canServe(from, filter))
    if (read === undefined) {
      read = new SharedRead(store, from, timing)
      reads.add(read)
      const newRead = read
      void read.run().finally(() => reads.delete(newRead))
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
  #isStopped = false
  #reader: SharedReader | undefined
  #ownSubscription: Subscription | undefined

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
    this.#isStopped = true
    this.#reader?.leave()
    this.#ownSubscription?.stop()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<SubscriptionBatch, void, undefined> {
    let position = this.from
    this.#reader = await this.join(position, this.filter)
    if (this.#reader !== undefined) {
      try {
        for (;;) {
          const batch = this.#isStopped ? undefined : await this.#reader.next()
          if (batch === undefined) break
          position = batch.position
          yield batch
        }
      } finally {
        this.#reader.leave()
      }
    }
    if (this.#isStopped) return
    this.#ownSubscription = this.store.subscribe(position, this.filter)
    try {
      yield* this.#ownSubscription
    } finally {
      this.#ownSubscription.stop()
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
  #pendingPage: (SubscriptionBatch & { readonly events: StoredEvent[] }) | undefined
  #pageTimer: NodeJS.Timeout | undefined
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
    const isBuffered = comparePositions(from, this.#from) >= 0 && comparePositions(from, this.#end) <= 0
    return isBuffered && prefixes.every((prefix) => this.#prefixes?.includes(prefix) === true)
  }

  join(from: PositionOrStart, filter: StreamFilter): SharedReader {
    const reader = new SharedReader(this, from, filter)
    this.#readers.add(reader)
    return reader
  }

  leave(reader: SharedReader): void {
    this.#readers.delete(reader)
    if (this.#readers.size === 0) this.#subscription?.stop()
    this.#pause.wake()
  }

  onPagesTaken(): void {
    this.#pause.wake()
  }

  /** The pages after a position; undefined if none have arrived yet. @throws the error that ended the read */
  pagesAfter(position: PositionOrStart): readonly SubscriptionBatch[] | 'over' | undefined {
    const newerPages = this.#pages.filter((page) => comparePositions(page.position, position) > 0)
    if (newerPages.length > 0) return newerPages
    if (this.#error !== undefined) throw this.#error
    return this.#isOver ? 'over' : undefined
  }

  async run(): Promise<void> {
    await this.#pause.sleep(this.timing.gatherMs)
    if (this.#readers.size === 0) return void (this.#isOver = true)
    this.#prefixes = [...new Set([...this.#readers].flatMap((reader) => reader.filter.prefixes))]
    this.#subscription = this.store.subscribe(this.#from, { prefixes: this.#prefixes })
    try {
      for await (const batch of this.#subscription) {
        if (this.#readers.size === 0) return
        this.#add(batch)
        if (batch.caughtUp) return
        await this.#waitForSlowReaders()
      }
    } catch (error) {
      this.#error = error
    } finally {
      this.#subscription.stop()
      this.#completePage()
      this.#isOver = true
      for (const reader of this.#readers) reader.wake()
    }
  }

  /** Collects events that the server sends one by one into pages. */
  #add({ events, position, caughtUp }: SubscriptionBatch): void {
    if (comparePositions(position, this.#pendingPage?.position ?? this.#end) <= 0) return
    const pendingEvents = this.#pendingPage?.events ?? []
    for (const event of events) pendingEvents.push(event)
    this.#pendingPage = { events: pendingEvents, position, caughtUp }
    if (this.#pendingPage.events.length >= BATCH_SIZE) this.#completePage()
    else this.#pageTimer ??= setTimeout(() => this.#completePage(), COALESCE_MS)
  }

  #completePage(): void {
    clearTimeout(this.#pageTimer)
    this.#pageTimer = undefined
    if (this.#pendingPage === undefined) return
    this.#pages.push(this.#pendingPage)
    this.#pendingPage = undefined
    for (const reader of this.#readers) reader.wake()
  }

  get #end(): PositionOrStart {
    return this.#pages.at(-1)?.position ?? this.#from
  }

  /** Waits for slow readers, but only for `maxWaitMs`, so that the others reach the head. */
  async #waitForSlowReaders(): Promise<void> {
    const deadline = performance.now() + this.timing.maxWaitMs
    while (!this.#trimPages()) {
      const remainingMs = deadline - performance.now()
      if (remainingMs > 0) await this.#pause.sleep(remainingMs)
      else this.#dropSlowReaders()
    }
  }

  /**
   * Removes the oldest pages that every reader has taken, down to `maxBufferedEvents`. @returns false if a slow reader
   * prevents it
   */
  #trimPages(): boolean {
    let events = this.#pages.reduce((sum, page) => sum + page.events.length, 0)
    while (events > this.timing.maxBufferedEvents) {
      const [oldest] = this.#pages
      if (oldest === undefined) return true
      for (const reader of this.#readers) if (comparePositions(reader.position, oldest.position) < 0) return false
      this.#pages.shift()
      this.#from = oldest.position
      events -= oldest.events.length
    }
    return true
  }

  #dropSlowReaders(): void {
    const [oldest] = this.#pages
    if (oldest === undefined) return
    for (const reader of this.#readers) if (comparePositions(reader.position, oldest.position) < 0) reader.leave()
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
      const pages = this.read.pagesAfter(this.position)
      if (pages === 'over') return undefined
      if (pages !== undefined) return this.#take(pages)
      await this.#pause.sleep(MAX_SLEEP_MS)
    }
  }

  #take(pages: readonly SubscriptionBatch[]): SubscriptionBatch {
    const events: StoredEvent[] = []
    let last: SubscriptionBatch | undefined
    for (const page of pages) {
      const matchingEvents = page.events.filter((event) => this.#passes(event))
      if (last !== undefined && events.length + matchingEvents.length > BATCH_SIZE) break
      events.push(...matchingEvents)
      last = page
    }
    const { position = this.position, caughtUp = false } = last ?? {}
    this.position = position
    this.read.onPagesTaken()
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
