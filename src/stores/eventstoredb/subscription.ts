import { START, streamNameFilter, type Filter as AllFilter } from '@eventstore/db-client'
import { News } from '../log/news.ts'
import {
  comparePositions,
  type Batch,
  type Filter,
  type From,
  type Position,
  type StoredEvent,
  type Subscription,
} from '../ports/event-store.ts'
import type { Connection } from './connection.ts'
import { storedEvent } from './encoding.ts'
import type { Interrupted } from './failure.ts'
import { Inbox, type Arrival } from './inbox.ts'
import { CHECKPOINT_INTERVAL, later, OURS, type LiveFeed } from './live-feed.ts'
import { LEADER_ONLY } from './node.ts'
import { AHEAD, type Reader } from './reader.ts'
import { Rest, type Timing } from './timing.ts'

export type HistoryOptions = {
  readonly connection: Connection
  readonly reader: Reader
  readonly feed: LiveFeed
  readonly ask: () => Promise<From>
  readonly timing: Timing
  readonly interrupted: Interrupted
}

/** A subscription that reads what lies too far back for the live feed, filtered by the server. */
class History {
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

/**
 * Follows the log by pulling: from the live feed's memory where that reaches, else from the server, which is held back
 * while the subscriber is busy. Whatever breaks is taken up again where it was, after a pause that grows.
 */
export class LogSubscription implements Subscription {
  readonly #rest: Rest
  readonly #news = new News()
  #stopped = false
  #history: History | undefined
  #position: From

  constructor(
    private readonly options: HistoryOptions,
    from: From,
    private readonly filter: Filter | undefined,
  ) {
    this.#rest = new Rest(options.timing)
    this.#position = from
  }

  stop(): void {
    this.#stopped = true
    this.#history?.close()
    this.#rest.wake()
    this.#news.tell()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Batch, void, undefined> {
    const leave = await this.#follow()
    let announced = false
    try {
      while (!this.#stopped) {
        this.#news.forget()
        const batch = this.options.feed.behind(this.#position, this.filter)
        if (batch === undefined) {
          yield* this.#old()
          continue
        }
        const moved = comparePositions(batch.position, this.#position) > 0
        this.#position = batch.position
        if (moved || !announced) yield batch
        announced = true
        // Behind, and nothing there at all: what is known to exist is on its way. A page in which nothing passed is not
        // the end of the log.
        if (batch.caughtUp || !moved) await this.#news.wait()
      }
    } finally {
      leave()
    }
  }

  /** Resolves when the feed listens, or it was stopped. */
  async #follow(): Promise<() => void> {
    while (!this.#stopped) {
      try {
        return await this.options.feed.follow(() => this.#news.tell())
      } catch (error) {
        await this.#interrupted(error)
      }
    }
    return () => {}
  }

  async *#old(): AsyncGenerator<Batch> {
    const history = new History(this.options, this.filter, this.#position)
    this.#history = history
    try {
      for await (const batch of history.read()) {
        this.#position = batch.position
        this.#rest.short()
        if (this.#stopped) return
        yield batch
        if (this.#stopped) return
      }
      this.#position = history.position
    } catch (error) {
      await this.#interrupted(error)
    }
  }

  /** What breaks by its own stop is no failure. */
  #interrupted(error: unknown): Promise<void> {
    if (!this.#stopped) this.options.interrupted(error)
    return this.#rest.sleep()
  }
}
