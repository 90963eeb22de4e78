import { BACKWARDS, END, START, type EventStoreDBClient, type ResolvedEvent } from '@eventstore/db-client'
import { Semaphore } from '../../runtime/fairness/semaphores.ts'
import { SingleFlight } from '../log/single-flight.ts'
import {
  comparePositions,
  passesFilter,
  StoreUnavailable,
  type StreamFilter,
  type PositionOrStart,
  type Position,
  type StoredEvent,
} from '../ports/event-store.ts'
import type { EventStoreDBConnection } from './connection.ts'
import { isPositionMissing, positionOf, toStoredEvent } from './encoding.ts'
import { isMissingStream, isUnknownPosition, STORE, toStoreUnavailable } from './failure.ts'
import { StreamBuffer, type ClientStream } from './stream-buffer.ts'
import { LEADER_ONLY } from './node.ts'
import type { Timing } from './timing.ts'

/** An event as far as the head is concerned. */
export type ScannedEvent = { readonly position: Position; readonly isApplicationEvent: boolean }

/** Reads so many events backwards, the newest first, from the end or from before a position. */
export type BackwardReader = (from: Position | 'end', count: number) => Promise<readonly ScannedEvent[]>

/** Events a page: most often the very newest one is ours, and only what the server writes itself lies behind it. */
const FIRST_PAGES = [1, 32, 1_024]
const PAGE = 4_096

/**
 * Where the newest event stands that is not the server's own. Any number of those may lie behind it: the standard
 * projections, switched on over a log, write several for each event there is. So what was looked through once is
 * remembered, and each look goes back to there and no further.
 */
export class HeadFinder {
  #newest: PositionOrStart = 'start'
  /** Up to here, nothing of ours lies behind `#newest`. */
  #looked: PositionOrStart = 'start'

  constructor(private readonly readBack: BackwardReader) {}

  /**
   * Takes note of an event of ours.
   * @param looked a place up to which nothing of ours lies behind it, such as a checkpoint of the server's
   */
  observePosition(position: PositionOrStart, looked: PositionOrStart = position): void {
    if (comparePositions(position, this.#newest) > 0) this.#newest = position
    if (comparePositions(looked, this.#looked) > 0) this.#looked = looked
  }

  /** @throws what `readBack` does */
  async find(): Promise<PositionOrStart> {
    const before = { newest: this.#newest, looked: this.#looked }
    let from: Position | 'end' = 'end'
    let end: PositionOrStart | undefined
    for (let pages = 0; ; pages++) {
      const count = FIRST_PAGES[pages] ?? PAGE
      const page: readonly ScannedEvent[] = await this.readBack(from, count)
      end ??= page[0]?.position ?? 'start'
      const ours = page.find(({ isApplicationEvent }) => isApplicationEvent)
      const oldest = page.at(-1)?.position
      if (ours !== undefined) return this.#found(ours.position, end, before.newest)
      if (oldest === undefined || page.length < count) return this.#found('start', end, before.newest)
      // A log that ends before what was looked at has been put back: nothing of that counts any more.
      const isKnown = comparePositions(end, before.looked) >= 0
      if (isKnown && comparePositions(oldest, before.looked) <= 0) return this.#found(before.newest, end, before.newest)
      from = oldest
    }
  }

  /** What was appended in the meantime is newer still. */
  #found(newest: PositionOrStart, looked: PositionOrStart, before: PositionOrStart): PositionOrStart {
    if (comparePositions(this.#newest, before) > 0) return this.#newest
    this.#newest = newest
    this.#looked = looked
    return newest
  }
}

/** Reads all events behind a position, in their order, up to the newest at the time. */
export type ForwardReader = (from: PositionOrStart) => AsyncIterable<StoredEvent>

/**
 * Where each event stands in the order of all, for servers before 22.6: they do not tell it of events that were read by
 * their stream. The log is read once, then what is new; each event takes about 200 bytes of memory. On other servers
 * nothing is read.
 */
export class PositionIndex {
  readonly #places = new Map<string, Position>()
  #read: PositionOrStart = 'start'
  readonly #upToDate: SingleFlight<void>

  constructor(private readonly readOn: ForwardReader) {
    this.#upToDate = new SingleFlight(() => this.#readNew())
  }

  /** The same events, each with its place. @throws StoreUnavailable */
  async withPositions(events: StoredEvent[]): Promise<StoredEvent[]> {
    const untold = events.filter(({ position }) => isPositionMissing(position))
    if (untold.length === 0) return events
    if (untold.some((event) => !this.#places.has(nameOf(event)))) await this.#upToDate.get()
    return events.map((event) =>
      isPositionMissing(event.position) ? { ...event, position: this.#placeOf(event) } : event,
    )
  }

  #placeOf(event: StoredEvent): Position {
    const place = this.#places.get(nameOf(event))
    if (place !== undefined) return place
    throw new StoreUnavailable(`${STORE}: ${nameOf(event)} was read by its stream, but is not among all events`, {
      store: STORE,
    })
  }

  async #readNew(): Promise<void> {
    for await (const event of this.readOn(this.#read)) {
      this.#places.set(nameOf(event), event.position)
      this.#read = event.position
    }
  }
}

const nameOf = ({ stream, revision }: StoredEvent) => `${revision}@${stream}`

/** Objects that a stream of the client's holds ready; its own 16 make reading long streams slow. */
export const READ_AHEAD = { highWaterMark: 512 }

/**
 * Reads to an end that are asked beside each other. Some bulks of 500 changes ask for thousands of streams at once, and the
 * last of so many would wait longer than a server that is well may take for one; Kestrel serves 100 calls of a connection.
 */
const MAX_CONCURRENT_READS = 32

/** Reads, each given up when nothing comes in time: the client has no deadline for them. */
export class EventReader {
  readonly #permits = new Semaphore(MAX_CONCURRENT_READS)
  readonly #positionIndex: PositionIndex
  readonly #head = new HeadFinder((from, count) => this.#back(from === 'end' ? END : from, count))

  constructor(
    private readonly connection: EventStoreDBConnection,
    private readonly timing: Pick<Timing, 'readTimeoutMs'>,
  ) {
    this.#positionIndex = new PositionIndex((from) => this.#newerThan(from))
  }

  /** @throws StoreUnavailable */
  async readStream(name: string): Promise<StoredEvent[]> {
    return this.#collect(name, (client) => client.readStream(name, LEADER_ONLY, READ_AHEAD))
  }

  /** `count` events from a revision on, as far as they are there. @throws StoreUnavailable */
  async readRange(name: string, first: bigint, count: number): Promise<StoredEvent[]> {
    return this.#collect(name, (client) =>
      client.readStream(name, { ...LEADER_ONLY, fromRevision: first, maxCount: count }),
    )
  }

  /** A stream's newest events in their order. @throws StoreUnavailable */
  async readNewest(name: string, count: number): Promise<StoredEvent[]> {
    const options = { ...LEADER_ONLY, direction: BACKWARDS, fromRevision: END, maxCount: count } as const
    return (await this.#collect(name, (client) => client.readStream(name, options))).reverse()
  }

  /** Where the newest event stands that is not the server's own. @throws StoreUnavailable */
  head(): Promise<PositionOrStart> {
    return this.#head.find()
  }

  /** Takes note of an event, behind which nothing of ours lies up to `looked`. */
  observePosition(position: PositionOrStart, looked?: PositionOrStart): void {
    this.#head.observePosition(position, looked)
  }

  /** The event at exactly this position. @throws StoreUnavailable */
  async readAt(position: Position): Promise<StoredEvent | undefined> {
    try {
      const options = { ...LEADER_ONLY, fromPosition: position, maxCount: 1 }
      const [event] = await this.#list('an event', (client) => client.readAll(options))
      return event !== undefined && comparePositions(event.position, position) === 0 ? event : undefined
    } catch (error) {
      if (error instanceof StoreUnavailable && isUnknownPosition(error.cause)) return undefined
      throw error
    }
  }

  /** All that passes, behind `from` and up to `to`. @throws StoreUnavailable */
  async *readAll(from: PositionOrStart, to: PositionOrStart, filter?: StreamFilter): AsyncGenerator<StoredEvent> {
    if (comparePositions(from, to) >= 0) return
    const options = { ...LEADER_ONLY, fromPosition: from === 'start' ? START : from } as const
    for await (const event of this.#events('all events', (client) => client.readAll(options, READ_AHEAD))) {
      if (event === undefined || comparePositions(event.position, from) <= 0) continue
      if (comparePositions(event.position, to) > 0) return
      if (passesFilter(event, filter)) yield event
    }
  }

  async #back(fromPosition: Position | typeof END, maxCount: number): Promise<ScannedEvent[]> {
    const options = { ...LEADER_ONLY, direction: BACKWARDS, fromPosition, maxCount } as const
    const seen: ScannedEvent[] = []
    for await (const event of this.#resolved('the head', (client) => client.readAll(options, READ_AHEAD))) {
      seen.push({ position: positionOf(event), isApplicationEvent: toStoredEvent(event) !== undefined })
    }
    return seen
  }

  async *#newerThan(from: PositionOrStart): AsyncGenerator<StoredEvent> {
    yield* this.readAll(from, await this.head())
  }

  async #collect(name: string, read: ClientRead): Promise<StoredEvent[]> {
    try {
      return await this.#positionIndex.withPositions(
        (await this.#list(name, read)).filter((event) => event !== undefined),
      )
    } catch (error) {
      if (error instanceof StoreUnavailable && isMissingStream(error.cause)) return []
      throw error
    }
  }

  /** Reads to the end: calls that are broken off count as an attack on the server, which then ends the connection. */
  async #list(what: string, read: ClientRead): Promise<(StoredEvent | undefined)[]> {
    try {
      return await this.#permits.run(async () => {
        const events: (StoredEvent | undefined)[] = []
        for await (const event of this.#events(what, read)) events.push(event)
        return events
      })
    } catch (error) {
      throw toStoreUnavailable(`${what} could not be read`, error)
    }
  }

  /** Undefined for each event that is none of ours. */
  async *#events(what: string, read: ClientRead): AsyncGenerator<StoredEvent | undefined> {
    for await (const event of this.#resolved(what, read)) yield toStoredEvent(event)
  }

  async *#resolved(what: string, read: ClientRead): AsyncGenerator<ResolvedEvent> {
    const node = await this.connection.node()
    const inbox = new StreamBuffer(read(node.client), node)
    try {
      for (;;) {
        const patience = this.timing.readTimeoutMs
        const arrival = await inbox.next(patience)
        if (arrival === 'end') return
        if (arrival === 'silence') {
          this.connection.reportTimeout(node, patience)
          const reason = new Error(`nothing came within ${patience} ms`)
          this.#permits.rejectWaiting(reason)
          throw reason
        }
        yield* arrival.events
      }
    } catch (error) {
      this.connection.reportFailure(node, error)
      throw toStoreUnavailable(`${what} could not be read`, error)
    } finally {
      inbox.close()
    }
  }
}

type ClientRead = (client: EventStoreDBClient) => ClientStream
