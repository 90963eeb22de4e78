import { setImmediate as nextTick, setTimeout as pause } from 'node:timers/promises'
import { WakeSignal } from '../../log/wake-signal.ts'
import {
  DamagedStore,
  passesFilter,
  StoreUnavailable,
  type SubscriptionBatch,
  type StreamFilter,
  type StoredEvent,
  type Subscription,
} from '../../ports/event-store.ts'
import type { WarningLogger } from '../../../runtime/logger.ts'
import { countTurns } from '../change-detection.ts'
import type { EventLogFile } from './connection.ts'
import { decodeRows, positionAt, toStoredEvents } from './rows.ts'
import type { CommittedGroup } from './writer.ts'

/** Positions read per turn of the event loop. */
const PAGE = 1000

/** @throws StoreUnavailable */
export function readStream(log: EventLogFile, stream: string, last: number | undefined): StoredEvent[] {
  return log.use((connection) => {
    if (last === undefined) return decodeRows(connection.stream.all(stream))
    return decodeRows(connection.newest.all(stream, last).reverse())
  })
}

/** @throws StoreUnavailable */
export function readPage(log: EventLogFile, from: number, to: number, filter: StreamFilter | undefined): StoredEvent[] {
  return log.use((connection) => decodeRows(connection.page(from, to, filter?.prefixes)))
}

/** Each page is a separate statement, so that a long read does not block checkpoints. */
export async function* readPages(
  log: EventLogFile,
  from: number,
  to: number,
  filter: StreamFilter | undefined,
): AsyncGenerator<StoredEvent> {
  for (let start = from; start < to; start += PAGE) {
    if (start > from) await nextTick()
    yield* readPage(log, start, Math.min(start + PAGE, to), filter)
  }
}

/** Limits of the newest events kept in memory for subscriptions near the head. */
const MAX_EVENTS = 1500
const MAX_BYTES = 32 * 1024 * 1024

type TailChunk = {
  readonly before: number
  readonly head: number
  readonly events: readonly StoredEvent[]
  readonly bytes: number
}

/** The newest events in memory, as committed, without gaps. Subscriptions further behind read the file. */
export class SqliteLogTail {
  readonly #chunks: TailChunk[] = []
  #events = 0
  #bytes = 0

  add(chunk: TailChunk): void {
    if (this.#chunks.at(-1)?.head !== chunk.before) this.clear()
    this.#chunks.push(chunk)
    this.#events += chunk.events.length
    this.#bytes += chunk.bytes
    while (this.#events > MAX_EVENTS || this.#bytes > MAX_BYTES) this.#drop()
  }

  clear(): void {
    while (this.#chunks.length > 0) this.#drop()
  }

  /** The events after `position`, up to `limit`; undefined if the tail does not reach back that far. */
  eventsAfter(position: number, limit: number): readonly StoredEvent[] | undefined {
    const start = this.#chunks.findLastIndex((chunk) => chunk.before <= position)
    const first = this.#chunks[start]
    if (first === undefined || position >= first.head) return undefined
    const events = position === first.before ? first.events : first.events.slice(position - first.before)
    if (events.length >= limit) return events.length === limit ? events : events.slice(0, limit)
    return this.#join([...events], start + 1, limit)
  }

  #join(events: StoredEvent[], next: number, limit: number): StoredEvent[] {
    for (const chunk of this.#chunks.slice(next)) {
      if (events.length >= limit) break
      events.push(...chunk.events.slice(0, limit - events.length))
    }
    return events
  }

  #drop(): void {
    const chunk = this.#chunks.shift()
    this.#events -= chunk?.events.length ?? 0
    this.#bytes -= chunk?.bytes ?? 0
  }
}

const RETRY_PAUSE_MS = 100

/** One read of a subscription. `isFromMemory`: it came from the tail and needed no file access. */
type SubscriptionRead = {
  readonly batch: SubscriptionBatch
  readonly position: number
  readonly isFromMemory: boolean
}

type SubscriptionSource = {
  /** The next batch after `position`; without events if there are none. */
  next(position: number): SubscriptionRead
  /** Registers a listener for new events. @returns a function that removes it */
  addListener(wake: () => void): () => void
}

/**
 * A pull-based subscription with back-pressure: it reads the next batch only after the previous one was consumed, so a
 * slow consumer uses no additional memory.
 */
export class SqliteSubscription implements Subscription {
  readonly #source: SubscriptionSource
  readonly #from: number
  readonly #signal = new WakeSignal()
  readonly #warn: WarningLogger
  #stopped = false

  /** @param warn called for each failed read, which is then retried */
  constructor(source: SubscriptionSource, from: number, warn: WarningLogger) {
    this.#source = source
    this.#from = from
    this.#warn = warn
  }

  stop(): void {
    this.#stopped = true
    this.#signal.notify()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<SubscriptionBatch, void, undefined> {
    const removeListener = this.#source.addListener(() => this.#signal.notify())
    let position = this.#from
    let hasYielded = false
    try {
      while (!this.#stopped) {
        this.#signal.reset()
        const reading = await this.#read(position)
        if (reading === undefined) continue
        if (reading.position > position || !hasYielded) yield reading.batch
        hasYielded = true
        position = reading.position
        if (reading.batch.caughtUp) await this.#signal.wait()
        else if (!reading.isFromMemory) await nextTick()
      }
    } finally {
      removeListener()
    }
  }

  /** Undefined if the file cannot be read now; the caller retries without limit. @throws DamagedStore */
  async #read(position: number): Promise<SubscriptionRead | undefined> {
    try {
      return this.#source.next(position)
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || error instanceof DamagedStore) throw error
      this.#warn({ err: error, repeats: true }, 'reading the log for a subscription failed; retrying')
      await pause(RETRY_PAUSE_MS, undefined, { ref: false })
      return undefined
    }
  }
}

export class SqliteLiveFeed {
  readonly #log: EventLogFile
  readonly #tail = new SqliteLogTail()
  readonly #listeners = new Set<() => void>()
  #head = 0
  #version = -1
  readonly #turn = countTurns()
  #checkedInTurn = -1

  constructor(log: EventLogFile) {
    this.#log = log
    this.refreshHead()
  }

  /**
   * The newest position of any process. Commits of other processes change SQLite's data_version, which is checked once
   * per turn; commits of this connection do not: https://sqlite.org/pragma.html#pragma_data_version
   * @throws StoreUnavailable
   */
  refreshHead(): number {
    const turn = this.#turn()
    if (turn === this.#checkedInTurn) return this.#head
    const head = this.#log.use((connection) => {
      const version = connection.dataVersion.get() ?? 0
      if (version === this.#version) return this.#head
      const found = connection.lastPosition.get() ?? 0
      this.#version = version
      return found
    })
    this.#checkedInTurn = turn
    this.#move(head)
    return head
  }

  /** Passes the events of this process's commit to the subscriptions, so that they need not read the file. */
  onCommitted({ before, head, appends }: CommittedGroup, bytes: number): void {
    if (this.#listeners.size > 0 && head > before) {
      this.#tail.add({
        before,
        head,
        events: appends.flatMap(({ append, last }) => toStoredEvents(append, last)),
        bytes,
      })
    }
    this.#move(head)
  }

  source(filter: StreamFilter | undefined): SubscriptionSource {
    return {
      next: (position) => this.#next(position, filter),
      addListener: (wake) => {
        this.#listeners.add(wake)
        return () => this.#removeListener(wake)
      },
    }
  }

  #next(position: number, filter: StreamFilter | undefined): SubscriptionRead {
    const tailEvents = position < this.#head ? this.#tail.eventsAfter(position, PAGE) : []
    const end = tailEvents === undefined ? Math.min(position + PAGE, this.#head) : position + tailEvents.length
    const events =
      tailEvents === undefined
        ? readPage(this.#log, position, end, filter)
        : tailEvents.filter((event) => passesFilter(event, filter))
    const from = end === 0 ? 'start' : positionAt(end)
    const last = tailEvents?.at(-1)
    return {
      batch: { events, position: from, caughtUp: end >= this.#head, ...(last && { last }) },
      position: end,
      isFromMemory: tailEvents !== undefined,
    }
  }

  #removeListener(wake: () => void): void {
    this.#listeners.delete(wake)
    if (this.#listeners.size === 0) this.#tail.clear()
  }

  #move(head: number): void {
    if (head === this.#head) return
    this.#head = head
    for (const wake of this.#listeners) wake()
  }
}
