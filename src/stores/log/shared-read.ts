import { InterruptibleSleep } from '../../runtime/interruptible-sleep.ts'
import {
  comparePositions,
  StoreUnavailable,
  type EventStore,
  type PositionOrStart,
  type StoredEvent,
  type StreamFilter,
  type Subscription,
  type SubscriptionBatch,
} from '../ports/event-store.ts'
import { LogSubscription, type SubscriptionSource } from './subscription.ts'
import { LogTail, type TailChunk } from './tail.ts'

export type SharedReadTiming = {
  /** How long a read waits before it begins, for other subscriptions that begin at the same position. */
  readonly gatherMs: number
  /** How long a read waits for slower readers before it drops them from the shared read. */
  readonly maxWaitMs: number
  /** Events buffered for slower readers and for those that join later. */
  readonly maxBufferedEvents: number
}

const TIMING: SharedReadTiming = { gatherMs: 20, maxWaitMs: 1_000, maxBufferedEvents: 8_000 }

/**
 * Wraps an event store so that consumers which catch up share one read: each event is read and decoded once for all
 * that begin at the same position. At the head of the log each consumer continues with its own subscription, which both
 * stores serve from memory. So does a consumer so slow that others would have to wait for it, and every one if the
 * shared read fails.
 */
export function shareReads(store: EventStore, timing: SharedReadTiming = TIMING): EventStore {
  const reads = new Set<SharedRead>()

  async function join(from: PositionOrStart, filter: StreamFilter): Promise<SubscriptionSource | undefined> {
    if (!(await isBehind(store, from))) return undefined
    let read = [...reads].find((candidate) => candidate.canServe(from, filter))
    if (read === undefined) {
      const newRead = new SharedRead(store, from, timing)
      reads.add(newRead)
      void newRead.run().finally(() => reads.delete(newRead))
      read = newRead
    }
    return read.source(from, filter)
  }

  async function subscribe(from: PositionOrStart, filter: StreamFilter | undefined): Promise<Subscription> {
    const source = filter && (await join(from, filter))
    return source === undefined ? store.subscribe(from, filter) : new LogSubscription(source, from, filter)
  }

  return { ...store, subscribe: (from, filter) => new LaterSubscription(() => subscribe(from, filter)) }
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

/** A subscription that is opened when it is read. */
class LaterSubscription implements Subscription {
  #isStopped = false
  #subscription: Subscription | undefined

  constructor(private readonly open: () => Promise<Subscription>) {}

  stop(): void {
    this.#isStopped = true
    this.#subscription?.stop()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<SubscriptionBatch, void, undefined> {
    this.#subscription = await this.open()
    if (!this.#isStopped) yield* this.#subscription
  }
}

/** Events of a page, and milliseconds to collect them if they arrive one by one. */
const PAGE_EVENTS = 1_000
const COALESCE_MS = 50

type SharedReader = { position: PositionOrStart; readonly prefixes: readonly string[] }

/** One read of the log up to its head, and its readers. */
class SharedRead {
  readonly #tail: LogTail
  readonly #readers = new Set<SharedReader>()
  readonly #pause = new InterruptibleSleep()
  /** Events that arrived since the last page. */
  #page: (TailChunk & { readonly events: StoredEvent[] }) | undefined
  #pageTimer: NodeJS.Timeout | undefined
  /** Those of all readers, once the read has begun. */
  #prefixes: readonly string[] | undefined
  #subscription: Subscription | undefined

  constructor(
    private readonly store: EventStore,
    private readonly from: PositionOrStart,
    private readonly timing: SharedReadTiming,
  ) {
    this.#tail = new LogTail({ maxEvents: timing.maxBufferedEvents, maxBytes: Number.POSITIVE_INFINITY })
    this.#tail.startAt(from)
  }

  /** Whether a reader from this position gets everything that it needs. */
  canServe(from: PositionOrStart, { prefixes }: StreamFilter): boolean {
    if (this.#prefixes === undefined) return comparePositions(from, this.from) === 0
    const isBuffered = this.#tail.covers(from) && comparePositions(from, this.#tail.end) <= 0
    return isBuffered && prefixes.every((prefix) => this.#prefixes?.includes(prefix) === true)
  }

  source(from: PositionOrStart, { prefixes }: StreamFilter): SubscriptionSource {
    const reader: SharedReader = { position: from, prefixes }
    let leave = () => {}
    return {
      batchAfter: (position, filter) => {
        const batch = this.#tail.batchAfter(position, filter)
        reader.position = batch?.position ?? position
        this.#pause.wake()
        // The reader's own subscription tells when it has caught up.
        return batch && { ...batch, caughtUp: false }
      },
      follow: async (wake) => (leave = this.#follow(reader, wake)),
      catchUp: (position, filter, signal) => {
        leave()
        return readUntilAborted(this.store.subscribe(position, filter), signal)
      },
      onFailure: (error) => {
        throw error
      },
      backOff: { firstPauseMs: 0, longestPauseMs: 0 },
    }
  }

  async run(): Promise<void> {
    await new InterruptibleSleep().sleep(this.timing.gatherMs)
    this.#prefixes = [...new Set([...this.#readers].flatMap(({ prefixes }) => prefixes))]
    try {
      if (this.#readers.size === 0) return
      this.#subscription = this.store.subscribe(this.from, { prefixes: this.#prefixes })
      for await (const batch of this.#subscription) {
        if (this.#readers.size === 0) return
        this.#add(batch)
        if (batch.caughtUp) return
        await this.#waitForSlowReaders()
      }
    } catch {
      // Each reader continues with its own subscription, and gets its error.
    } finally {
      this.#subscription?.stop()
      this.#completePage()
      this.#tail.complete()
      this.#tail.wakeFollowers()
    }
  }

  #follow(reader: SharedReader, wake: () => void): () => void {
    this.#readers.add(reader)
    const unfollow = this.#tail.follow(wake)
    return () => {
      unfollow()
      this.#readers.delete(reader)
      if (this.#readers.size === 0) this.#subscription?.stop()
      this.#pause.wake()
    }
  }

  /** Collects events that the server sends one by one into pages. */
  #add({ events, position }: SubscriptionBatch): void {
    if (comparePositions(position, this.#page?.end ?? this.#tail.end) <= 0) return
    const pageEvents = this.#page?.events ?? []
    for (const event of events) pageEvents.push(event)
    this.#page = { before: this.#tail.end, end: position, events: pageEvents, bytes: 0 }
    if (pageEvents.length >= PAGE_EVENTS) this.#completePage()
    else this.#pageTimer ??= setTimeout(() => this.#completePage(), COALESCE_MS)
  }

  #completePage(): void {
    clearTimeout(this.#pageTimer)
    this.#pageTimer = undefined
    if (this.#page === undefined) return
    this.#tail.add(this.#page)
    this.#page = undefined
    this.#tail.wakeFollowers()
  }

  /** Waits for slow readers, but only for `maxWaitMs`, so that the others reach the head. */
  async #waitForSlowReaders(): Promise<void> {
    const deadline = performance.now() + this.timing.maxWaitMs
    while (!this.#tail.trim(this.#slowestPosition())) {
      const remainingMs = deadline - performance.now()
      if (remainingMs > 0) await this.#pause.sleep(remainingMs)
      else this.#tail.trim()
    }
  }

  #slowestPosition(): PositionOrStart {
    let slowest = this.#tail.end
    for (const { position } of this.#readers) if (comparePositions(position, slowest) < 0) slowest = position
    return slowest
  }
}

async function* readUntilAborted(subscription: Subscription, signal: AbortSignal): AsyncGenerator<SubscriptionBatch> {
  const stop = () => subscription.stop()
  signal.addEventListener('abort', stop, { once: true })
  try {
    if (!signal.aborted) yield* subscription
  } finally {
    signal.removeEventListener('abort', stop)
    subscription.stop()
  }
}
