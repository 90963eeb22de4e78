import { START, streamNameFilter, type Filter as AllFilter } from '@eventstore/db-client'
import {
  comparePositions,
  type Batch,
  type Filter,
  type From,
  type Position,
  type StoredEvent,
} from '../ports/event-store.ts'
import type { Connection } from './connection.ts'
import { storedEvent } from './decoding.ts'
import { Inbox, type Arrival } from './inbox.ts'
import type { Interrupted } from './interruption.ts'
import { CHECKPOINT_INTERVAL, later, OURS, type LiveFeed } from './live-feed.ts'
import { LEADER_ONLY } from './node.ts'
import { AHEAD, type Reader } from './reader.ts'
import type { Timing } from './timing.ts'

export type HistoryOptions = {
  readonly connection: Connection
  readonly reader: Reader
  readonly feed: LiveFeed
  readonly ask: () => Promise<From>
  readonly timing: Timing
  readonly interrupted: Interrupted
}

/** A subscription that reads what lies too far back for the live feed, filtered by the server. */
export class History {
  #inbox: Inbox | undefined
  #position: From
  /** The last event that was given on: checkpoints may stand before it, and the server may repeat itself. */
  #given: From

  constructor(
    private readonly options: HistoryOptions,
    private readonly filter: Filter | undefined,
    from: From,
  ) {
    this.#position = from
    this.#given = from
  }

  /** How far it has come. */
  get position(): From {
    return this.#position
  }

  close(): void {
    this.#inbox?.close()
  }

  /**
   * Batches until the live feed can go on from `position`.
   * @throws what the client says when the subscription breaks; go on from `position` then
   */
  async *read(): AsyncGenerator<Batch> {
    const { connection, feed, ask, timing } = this.options
    // What the server calls the end comes later than this.
    const head = await ask()
    const checkpointReached = (_: unknown, position: Position) => inbox.checkpointReached(position)
    const filter = filterOf(this.filter, { checkpointReached, checkpointInterval: CHECKPOINT_INTERVAL })
    const fromPosition = this.#position === 'start' ? START : this.#position
    const node = await connection.node()
    const inbox = new Inbox(node.client.subscribeToAll({ ...LEADER_ONLY, fromPosition, filter }, AHEAD), node)
    this.#inbox = inbox
    try {
      while (!feed.covers(this.#position)) {
        const arrival = await inbox.next(timing.silence)
        if (arrival === 'end') return
        if (arrival === 'silence') return yield* this.#rest()
        yield this.#batchOf(arrival)
        if (!arrival.caughtUp) continue
        this.#position = later(this.#position, head)
        return
      }
    } catch (error) {
      connection.failed(node, error)
      throw error
    } finally {
      inbox.close()
    }
  }

  /**
   * Not every server tells that a subscription has caught up, and one may have died without a word: what is still
   * missing is read, which has an end.
   */
  async *#rest(): AsyncGenerator<Batch> {
    const { reader, ask } = this.options
    const head = await ask()
    for await (const event of reader.all(this.#position, head, this.filter)) {
      if (comparePositions(event.position, this.#given) > 0) yield this.#batch([event], event.position)
    }
    this.#position = later(this.#position, head)
  }

  #batchOf({ events, checkpoint }: Arrival): Batch {
    const fresh: StoredEvent[] = []
    for (const event of events) {
      const stored = storedEvent(event)
      if (stored === undefined || comparePositions(stored.position, this.#given) <= 0) continue
      fresh.push(stored)
      this.#given = stored.position
    }
    return this.#batch(fresh, later(this.#given, checkpoint ?? this.#position))
  }

  #batch(events: readonly StoredEvent[], position: From): Batch {
    this.#given = later(this.#given, events.at(-1)?.position ?? 'start')
    this.#position = later(this.#position, position)
    return { events, position: this.#position, caughtUp: false }
  }
}

/** Every name begins with it, those of the server's own streams too. */
const EVERY = ''

type Checkpoints = Required<Pick<AllFilter, 'checkpointReached' | 'checkpointInterval'>>

const filterOf = (filter: Filter | undefined, checkpoints: Checkpoints) =>
  filter === undefined || filter.prefixes.includes(EVERY)
    ? streamNameFilter({ ...checkpoints, regex: OURS.source })
    : streamNameFilter({ ...checkpoints, prefixes: [...filter.prefixes] })
