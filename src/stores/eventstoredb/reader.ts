import { BACKWARDS, END, START, type EventStoreDBClient, type ResolvedEvent } from '@eventstore/db-client'
import { Semaphore } from '../../runtime/fairness/semaphores.ts'
import {
  comparePositions,
  formatPosition,
  passesFilter,
  StoreUnavailable,
  type StreamFilter,
  type PositionOrStart,
  type Position,
  type StoredEvent,
} from '../ports/event-store.ts'
import type { EventStoreDBConnection } from './connection.ts'
import { positionOf, toStoredEvent } from './encoding.ts'
import {
  isInterruption,
  isMissingStream,
  isUnknownPosition,
  isUnsentByOldChannel,
  toStoreUnavailable,
} from './failure.ts'
import { StreamBuffer, type ClientStream } from './stream-buffer.ts'
import { LEADER_ONLY } from './node.ts'
import type { Timing } from './timing.ts'

/** Objects buffered by a stream of the client; its default of 16 makes reading long streams slow. */
export const READ_AHEAD = { highWaterMark: 512 }

type ClientRead = (client: EventStoreDBClient) => ClientStream

/**
 * Reads with a timeout for silence: the client has no deadline for reads. A read whose connection ends is repeated
 * once, on a new one.
 */
export class EventReader {
  readonly #permits = new Semaphore(MAX_CONCURRENT_READS)
  /**
   * For reads of a few events of $all, sent one at a time: 13 to 20 at once stall the server's readers for 1 to 5 s, for
   * all clients (measured on 23.10.6 and 26.1.0), one after another they take 2 to 15 ms each. Reads of streams don't.
   */
  readonly #permitOfAll = new Semaphore(1)
  /** Reads in progress of the event at a position, which further callers share. */
  readonly #eventsAt = new Map<string, Promise<StoredEvent | undefined>>()
  readonly #head = new HeadFinder((from, count) => this.#readBackwards(from === 'end' ? END : from, count))

  constructor(
    private readonly connection: EventStoreDBConnection,
    private readonly timing: Pick<Timing, 'readTimeoutMs'>,
  ) {}

  /** @throws StoreUnavailable */
  async readStream(name: string): Promise<StoredEvent[]> {
    return this.#collect(name, (client) => client.readStream(name, LEADER_ONLY, READ_AHEAD))
  }

  /** Up to `count` events from a revision on. @throws StoreUnavailable */
  async readRange(name: string, first: bigint, count: number): Promise<StoredEvent[]> {
    return this.#collect(name, (client) =>
      client.readStream(name, { ...LEADER_ONLY, fromRevision: first, maxCount: count }),
    )
  }

  /** A stream's newest events, in order. @throws StoreUnavailable */
  async readNewest(name: string, count: number): Promise<StoredEvent[]> {
    const options = { ...LEADER_ONLY, direction: BACKWARDS, fromRevision: END, maxCount: count } as const
    return (await this.#collect(name, (client) => client.readStream(name, options))).reverse()
  }

  /** The position of the newest event that is not the server's own. @throws StoreUnavailable */
  head(): Promise<PositionOrStart> {
    return this.#head.find()
  }

  /** Records an event after which no event of ours follows up to `scannedTo`. */
  observePosition(position: PositionOrStart, scannedTo?: PositionOrStart): void {
    this.#head.observePosition(position, scannedTo)
  }

  /** The event at exactly this position. @throws StoreUnavailable */
  readAt(position: Position): Promise<StoredEvent | undefined> {
    const name = formatPosition(position)
    const shared = this.#eventsAt.get(name)
    if (shared !== undefined) return shared
    const reading = this.#readAt(position).finally(() => this.#eventsAt.delete(name))
    this.#eventsAt.set(name, reading)
    return reading
  }

  async #readAt(position: Position): Promise<StoredEvent | undefined> {
    try {
      const options = { ...LEADER_ONLY, fromPosition: position, maxCount: 1 }
      const [resolved] = await this.#list('an event', this.#permitOfAll, (client) => client.readAll(options))
      const event = resolved && toStoredEvent(resolved)
      return event !== undefined && comparePositions(event.position, position) === 0 ? event : undefined
    } catch (error) {
      if (error instanceof StoreUnavailable && isUnknownPosition(error.cause)) return undefined
      throw error
    }
  }

  /** The events that pass the filter, after `from` up to and including `to`. @throws StoreUnavailable */
  async *readAll(from: PositionOrStart, to: PositionOrStart, filter?: StreamFilter): AsyncGenerator<StoredEvent> {
    if (comparePositions(from, to) >= 0) return
    let last = from
    let repeats = new ReadRepeats()
    for (;;) {
      const options = { ...LEADER_ONLY, fromPosition: last === 'start' ? START : last } as const
      try {
        for await (const resolved of this.#resolved('all events', (client) => client.readAll(options, READ_AHEAD))) {
          const event = toStoredEvent(resolved)
          if (event === undefined || comparePositions(event.position, last) <= 0) continue
          if (comparePositions(event.position, to) > 0) return
          last = event.position
          repeats = new ReadRepeats()
          if (passesFilter(event, filter)) yield event
        }
        return
      } catch (error) {
        repeats.requireRepeatable(error)
      }
    }
  }

  async #readBackwards(fromPosition: Position | typeof END, maxCount: number): Promise<ScannedEvent[]> {
    const options = { ...LEADER_ONLY, direction: BACKWARDS, fromPosition, maxCount } as const
    const events = await this.#list('the head', this.#permitOfAll, (client) => client.readAll(options, READ_AHEAD))
    return events.map((event) => ({
      position: positionOf(event),
      isApplicationEvent: toStoredEvent(event) !== undefined,
    }))
  }

  async #collect(name: string, read: ClientRead): Promise<StoredEvent[]> {
    try {
      const events = await this.#list(name, this.#permits, read)
      return events.map(toStoredEvent).filter((event) => event !== undefined)
    } catch (error) {
      if (error instanceof StoreUnavailable && isMissingStream(error.cause)) return []
      throw error
    }
  }

  /** Always reads to the end: the server counts cancelled calls as an attack and closes the connection. */
  async #list(label: string, permits: Semaphore, read: ClientRead): Promise<ResolvedEvent[]> {
    const repeats = new ReadRepeats()
    const readToEnd = async (): Promise<ResolvedEvent[]> => {
      const events: ResolvedEvent[] = []
      try {
        for await (const event of this.#resolved(label, read)) events.push(event)
        return events
      } catch (error) {
        repeats.requireRepeatable(error)
        return readToEnd()
      }
    }
    try {
      return await permits.run(readToEnd)
    } catch (error) {
      throw toStoreUnavailable(`${label} could not be read`, error)
    }
  }

  async *#resolved(label: string, read: ClientRead): AsyncGenerator<ResolvedEvent> {
    const node = await this.connection.node()
    const inbox = new StreamBuffer(read(node.client), node)
    try {
      for (;;) {
        const timeoutMs = this.timing.readTimeoutMs
        const arrival = await inbox.next(timeoutMs)
        if (arrival === 'end') return
        if (arrival === 'silence') {
          this.connection.reportTimeout(node, timeoutMs)
          const reason = new Error(`no data within ${timeoutMs} ms`)
          for (const permits of [this.#permits, this.#permitOfAll]) permits.rejectWaiting(reason)
          throw reason
        }
        yield* arrival.events
      }
    } catch (error) {
      this.connection.reportFailure(node, error)
      throw toStoreUnavailable(`${label} could not be read`, error)
    } finally {
      inbox.close()
    }
  }
}

/**
 * Maximum number of concurrent reads. Some bulks of 500 changes read thousands of streams; with all at once, the last
 * would exceed a read timeout even on a healthy server. Kestrel serves 100 concurrent calls per connection.
 */
const MAX_CONCURRENT_READS = 32

/** How often a read may still be repeated. */
class ReadRepeats {
  #afterInterruption = 1
  #unsent = 3

  /** @throws the error, if the read must not be repeated after it */
  requireRepeatable(error: unknown): void {
    const { cause } = error instanceof StoreUnavailable ? error : {}
    if (isUnsentByOldChannel(cause) && this.#unsent-- > 0) return
    if (isInterruption(cause) && this.#afterInterruption-- > 0) return
    throw error
  }
}

/** An event, reduced to what finding the head needs. */
export type ScannedEvent = { readonly position: Position; readonly isApplicationEvent: boolean }

/** Reads up to `count` events backwards, newest first, from the end or from before a position. */
export type BackwardReader = (from: Position | 'end', count: number) => Promise<readonly ScannedEvent[]>

/**
 * Finds the position of the newest event that is not the server's own. Any number of the server's events may follow it:
 * the standard projections, enabled on an existing log, write several for each event. So scanned ranges are remembered
 * and not scanned again.
 */
export class HeadFinder {
  #newest: PositionOrStart = 'start'
  /** Up to here, no event of ours follows `#newest`. */
  #scannedTo: PositionOrStart = 'start'

  constructor(private readonly readBackwards: BackwardReader) {}

  /**
   * Records an event of ours.
   * @param scannedTo a position up to which no event of ours follows it, such as a checkpoint of the server
   */
  observePosition(position: PositionOrStart, scannedTo: PositionOrStart = position): void {
    if (comparePositions(position, this.#newest) > 0) this.#newest = position
    if (comparePositions(scannedTo, this.#scannedTo) > 0) this.#scannedTo = scannedTo
  }

  /** @throws the error of `readBackwards` */
  async find(): Promise<PositionOrStart> {
    const before = { newest: this.#newest, scannedTo: this.#scannedTo }
    let from: Position | 'end' = 'end'
    let end: PositionOrStart | undefined
    for (let pages = 0; ; pages++) {
      const count = FIRST_PAGES[pages] ?? PAGE
      const page: readonly ScannedEvent[] = await this.readBackwards(from, count)
      end ??= page[0]?.position ?? 'start'
      const applicationEvent = page.find(({ isApplicationEvent }) => isApplicationEvent)
      const oldest = page.at(-1)?.position
      if (applicationEvent !== undefined) return this.#recordHead(applicationEvent.position, end, before.newest)
      if (oldest === undefined || page.length < count) return this.#recordHead('start', end, before.newest)
      // A log that ends before the scanned range was restored from a backup: discard what was remembered.
      const reachesScannedRange = comparePositions(end, before.scannedTo) >= 0
      if (reachesScannedRange && comparePositions(oldest, before.scannedTo) <= 0)
        return this.#recordHead(before.newest, end, before.newest)
      from = oldest
    }
  }

  /** An event appended meanwhile is newer. */
  #recordHead(newest: PositionOrStart, scannedTo: PositionOrStart, before: PositionOrStart): PositionOrStart {
    if (comparePositions(this.#newest, before) > 0) return this.#newest
    this.#newest = newest
    this.#scannedTo = scannedTo
    return newest
  }
}

/** Events per page. Usually the newest event is ours and only few events of the server follow it. */
const FIRST_PAGES = [1, 32, 1_024]

const PAGE = 4_096
