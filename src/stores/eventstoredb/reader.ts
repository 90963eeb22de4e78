import { BACKWARDS, END, START, type EventStoreDBClient, type ResolvedEvent } from '@eventstore/db-client'
import { Semaphore } from '../../runtime/fairness/semaphores.ts'
import { SharedAnswer } from '../log/shared-answer.ts'
import {
  comparePositions,
  passesFilter,
  StoreUnavailable,
  type Filter,
  type From,
  type Position,
  type StoredEvent,
} from '../ports/event-store.ts'
import type { Connection } from './connection.ts'
import { isUntold, positionOf, storedEvent } from './encoding.ts'
import { isMissingStream, isUnknownPosition, STORE, unavailable } from './failure.ts'
import { Inbox, type Incoming } from './inbox.ts'
import { LEADER_ONLY } from './node.ts'
import type { Timing } from './timing.ts'

/** An event as far as the head is concerned. */
export type Seen = { readonly position: Position; readonly isOurs: boolean }

/** Reads so many events backwards, the newest first, from the end or from before a position. */
export type ReadBack = (from: Position | 'end', count: number) => Promise<readonly Seen[]>

/** Events a page: most often the very newest one is ours, and only what the server writes itself lies behind it. */
const FIRST_PAGES = [1, 32, 1_024]
const PAGE = 4_096

/**
 * Where the newest event stands that is not the server's own. Any number of those may lie behind it: the standard
 * projections, switched on over a log, write several for each event there is. So what was looked through once is
 * remembered, and each look goes back to there and no further.
 */
export class Head {
  #newest: From = 'start'
  /** Up to here, nothing of ours lies behind `#newest`. */
  #looked: From = 'start'

  constructor(private readonly readBack: ReadBack) {}

  /**
   * Takes note of an event of ours.
   * @param looked a place up to which nothing of ours lies behind it, such as a checkpoint of the server's
   */
  exists(position: From, looked: From = position): void {
    if (comparePositions(position, this.#newest) > 0) this.#newest = position
    if (comparePositions(looked, this.#looked) > 0) this.#looked = looked
  }

  /** @throws what `readBack` does */
  async find(): Promise<From> {
    const before = { newest: this.#newest, looked: this.#looked }
    let from: Position | 'end' = 'end'
    let end: From | undefined
    for (let pages = 0; ; pages++) {
      const count = FIRST_PAGES[pages] ?? PAGE
      const page: readonly Seen[] = await this.readBack(from, count)
      end ??= page[0]?.position ?? 'start'
      const ours = page.find(({ isOurs }) => isOurs)
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
  #found(newest: From, looked: From, before: From): From {
    if (comparePositions(this.#newest, before) > 0) return this.#newest
    this.#newest = newest
    this.#looked = looked
    return newest
  }
}

/** Reads all events behind a position, in their order, up to the newest at the time. */
export type ReadOn = (from: From) => AsyncIterable<StoredEvent>

/**
 * Where each event stands in the order of all, for servers before 22.6: they do not tell it of events that were read by
 * their stream. The log is read once, then what is new; each event takes about 200 bytes of memory. On other servers
 * nothing is read.
 */
export class Places {
  readonly #places = new Map<string, Position>()
  #read: From = 'start'
  readonly #upToDate: SharedAnswer<void>

  constructor(private readonly readOn: ReadOn) {
    this.#upToDate = new SharedAnswer(() => this.#readNew())
  }

  /** The same events, each with its place. @throws StoreUnavailable */
  async of(events: StoredEvent[]): Promise<StoredEvent[]> {
    const untold = events.filter(({ position }) => isUntold(position))
    if (untold.length === 0) return events
    if (untold.some((event) => !this.#places.has(nameOf(event)))) await this.#upToDate.get()
    return events.map((event) => (isUntold(event.position) ? { ...event, position: this.#placeOf(event) } : event))
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
export const AHEAD = { highWaterMark: 512 }

/**
 * Reads to an end that are asked beside each other. Some bulks of 500 changes ask for thousands of streams at once, and the
 * last of so many would wait longer than a server that is well may take for one; Kestrel serves 100 calls of a connection.
 */
const BESIDE = 32

/** Reads, each given up when nothing comes in time: the client has no deadline for them. */
export class Reader {
  readonly #permits = new Semaphore(BESIDE)
  readonly #places: Places
  readonly #head = new Head((from, count) => this.#back(from === 'end' ? END : from, count))

  constructor(
    private readonly connection: Connection,
    private readonly timing: Pick<Timing, 'read'>,
  ) {
    this.#places = new Places((from) => this.#newerThan(from))
  }

  /** @throws StoreUnavailable */
  async stream(name: string): Promise<StoredEvent[]> {
    return this.#collect(name, (client) => client.readStream(name, LEADER_ONLY, AHEAD))
  }

  /** `count` events from a revision on, as far as they are there. @throws StoreUnavailable */
  async run(name: string, first: bigint, count: number): Promise<StoredEvent[]> {
    return this.#collect(name, (client) =>
      client.readStream(name, { ...LEADER_ONLY, fromRevision: first, maxCount: count }),
    )
  }

  /** A stream's newest events in their order. @throws StoreUnavailable */
  async newest(name: string, count: number): Promise<StoredEvent[]> {
    const options = { ...LEADER_ONLY, direction: BACKWARDS, fromRevision: END, maxCount: count } as const
    return (await this.#collect(name, (client) => client.readStream(name, options))).reverse()
  }

  /** Where the newest event stands that is not the server's own. @throws StoreUnavailable */
  head(): Promise<From> {
    return this.#head.find()
  }

  /** Takes note of an event, behind which nothing of ours lies up to `looked`. */
  exists(position: From, looked?: From): void {
    this.#head.exists(position, looked)
  }

  /** The event at exactly this position. @throws StoreUnavailable */
  async at(position: Position): Promise<StoredEvent | undefined> {
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
  async *all(from: From, to: From, filter?: Filter): AsyncGenerator<StoredEvent> {
    if (comparePositions(from, to) >= 0) return
    const options = { ...LEADER_ONLY, fromPosition: from === 'start' ? START : from } as const
    for await (const event of this.#events('all events', (client) => client.readAll(options, AHEAD))) {
      if (event === undefined || comparePositions(event.position, from) <= 0) continue
      if (comparePositions(event.position, to) > 0) return
      if (passesFilter(event, filter)) yield event
    }
  }

  async #back(fromPosition: Position | typeof END, maxCount: number): Promise<Seen[]> {
    const options = { ...LEADER_ONLY, direction: BACKWARDS, fromPosition, maxCount } as const
    const seen: Seen[] = []
    for await (const event of this.#resolved('the head', (client) => client.readAll(options, AHEAD))) {
      seen.push({ position: positionOf(event), isOurs: storedEvent(event) !== undefined })
    }
    return seen
  }

  async *#newerThan(from: From): AsyncGenerator<StoredEvent> {
    yield* this.all(from, await this.head())
  }

  async #collect(name: string, read: Read): Promise<StoredEvent[]> {
    try {
      return await this.#places.of((await this.#list(name, read)).filter((event) => event !== undefined))
    } catch (error) {
      if (error instanceof StoreUnavailable && isMissingStream(error.cause)) return []
      throw error
    }
  }

  /** Reads to the end: calls that are broken off count as an attack on the server, which then ends the connection. */
  async #list(what: string, read: Read): Promise<(StoredEvent | undefined)[]> {
    try {
      return await this.#permits.run(async () => {
        const events: (StoredEvent | undefined)[] = []
        for await (const event of this.#events(what, read)) events.push(event)
        return events
      })
    } catch (error) {
      throw unavailable(`${what} could not be read`, error)
    }
  }

  /** Undefined for each event that is none of ours. */
  async *#events(what: string, read: Read): AsyncGenerator<StoredEvent | undefined> {
    for await (const event of this.#resolved(what, read)) yield storedEvent(event)
  }

  async *#resolved(what: string, read: Read): AsyncGenerator<ResolvedEvent> {
    const node = await this.connection.node()
    const inbox = new Inbox(read(node.client), node)
    try {
      for (;;) {
        const patience = this.timing.read
        const arrival = await inbox.next(patience)
        if (arrival === 'end') return
        if (arrival === 'silence') {
          this.connection.unanswered(node, patience)
          const reason = new Error(`nothing came within ${patience} ms`)
          this.#permits.refuse(reason)
          throw reason
        }
        yield* arrival.events
      }
    } catch (error) {
      this.connection.failed(node, error)
      throw unavailable(`${what} could not be read`, error)
    } finally {
      inbox.close()
    }
  }
}

type Read = (client: EventStoreDBClient) => Incoming
