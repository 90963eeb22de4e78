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
  /** Milliseconds that a read waits, before it begins, for others who have to begin at the same place. */
  readonly gatherMs: number
  /** Milliseconds that the others wait for one that is slower, before it goes on by itself. */
  readonly maxWaitMs: number
  /** Events that are kept for those who are slower, or come later. */
  readonly maxBufferedEvents: number
}

const TIMING: SharedReadTiming = { gatherMs: 20, maxWaitMs: 1_000, maxBufferedEvents: 8_000 }

/** Events that make a batch, and milliseconds in which they may come one by one. */
const BATCH_SIZE = 1_000
const COALESCE_MS = 50

/**
 * A log whose followers share one read of what lies behind them: each event is read and decoded once for all who begin at
 * the same place, however many they are. At the head each goes on with a subscription of its own, which both stores serve
 * from memory; so does who is so slow that others would wait for him.
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

/** Who can't tell goes on by himself: a subscription waits for its log. */
async function isBehind(store: EventStore, from: PositionOrStart): Promise<boolean> {
  try {
    return comparePositions(from, await store.head()) < 0
  } catch (error) {
    if (error instanceof StoreUnavailable) return false
    throw error
  }
}

/** First what others read too, then by itself. */
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

/** One read of the log, up to the head, and those who take part in it. */
class SharedRead {
  readonly #readers = new Set<SharedReader>()
  readonly #pause = new InterruptibleSleep()
  /** The newest of what was read; `from` lies before them. */
  #pages: SubscriptionBatch[] = []
  #from: PositionOrStart
  /** What has come since the last page. */
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

  /** Whether one who begins there finds all that he needs. */
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

  /** Somebody has taken what was there. */
  onBatchesTaken(): void {
    this.#pause.wake()
  }

  /** What was read behind a position; undefined where there is nothing yet. @throws what broke the read off */
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

  /** What a server sends one by one is handed on together. */
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

  /** Waits for who is slow, but not for ever: others have to come to the head. */
  async #room(): Promise<void> {
    const until = performance.now() + this.timing.maxWaitMs
    while (!this.#forget()) {
      const left = until - performance.now()
      if (left > 0) await this.#pause.sleep(left)
      else this.#leaveBehind()
    }
  }

  /** Lets go of the oldest pages that all have taken, as far as there are too many. @returns false where there still are */
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

/** One who takes part in a read, at his own pace. */
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

  /** All that has come meanwhile, as one batch; undefined at the end, and for one that was left behind. */
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

/** Milliseconds; it is woken before. */
const MAX_SLEEP_MS = 60_000
