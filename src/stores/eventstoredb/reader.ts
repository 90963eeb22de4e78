import { BACKWARDS, END, START, type EventStoreDBClient, type ResolvedEvent } from '@eventstore/db-client'
import { Semaphore } from '../../runtime/fairness/semaphores.ts'
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
import { positionOf, storedEvent } from './decoding.ts'
import { isMissingStream, isUnknownPosition, unavailable } from './failure.ts'
import { Head, type Seen } from './head.ts'
import { Inbox, type Incoming } from './inbox.ts'
import { LEADER_ONLY } from './node.ts'
import { Places } from './places.ts'
import type { Timing } from './timing.ts'

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
