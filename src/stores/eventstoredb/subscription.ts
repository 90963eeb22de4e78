import { START, streamNameFilter, type Filter as AllFilter } from '@eventstore/db-client'
import { WakeSignal } from '../log/wake-signal.ts'
import {
  comparePositions,
  type SubscriptionBatch,
  type StreamFilter,
  type PositionOrStart,
  type Position,
  type StoredEvent,
  type Subscription,
} from '../ports/event-store.ts'
import type { EventStoreDBConnection } from './connection.ts'
import { toStoredEvent } from './encoding.ts'
import type { InterruptionListener } from './failure.ts'
import { StreamBuffer, type BufferedBatch } from './stream-buffer.ts'
import { CHECKPOINT_INTERVAL, laterPosition, NON_SYSTEM_STREAMS, type LiveFeed } from './live-feed.ts'
import { LEADER_ONLY } from './node.ts'
import { READ_AHEAD, type EventReader } from './reader.ts'
import { BackOff, type Timing } from './timing.ts'

type EventStoreDBSubscriptionOptions = {
  readonly connection: EventStoreDBConnection
  readonly reader: EventReader
  readonly feed: LiveFeed
  readonly readHead: () => Promise<PositionOrStart>
  readonly timing: Timing
  readonly onInterrupted: InterruptionListener
}

/**
 * A pull-based subscription with back-pressure. It reads from the live feed's memory if that reaches back far enough,
 * otherwise from the server. After a failure it resumes at its position, with back-off.
 */
export class EventStoreDBSubscription implements Subscription {
  readonly #backOff: BackOff
  readonly #signal = new WakeSignal()
  #stopped = false
  #catchUpSubscription: CatchUpSubscription | undefined
  #position: PositionOrStart

  constructor(
    private readonly options: EventStoreDBSubscriptionOptions,
    from: PositionOrStart,
    private readonly filter: StreamFilter | undefined,
  ) {
    this.#backOff = new BackOff(options.timing)
    this.#position = from
  }

  stop(): void {
    this.#stopped = true
    this.#catchUpSubscription?.close()
    this.#backOff.wake()
    this.#signal.notify()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<SubscriptionBatch, void, undefined> {
    const unfollow = await this.#follow()
    let hasYielded = false
    try {
      while (!this.#stopped) {
        this.#signal.reset()
        const batch = this.options.feed.batchAfter(this.#position, this.filter)
        if (batch === undefined) {
          yield* this.#catchUp()
          continue
        }
        const hasAdvanced = comparePositions(batch.position, this.#position) > 0
        this.#position = batch.position
        if (hasAdvanced || !hasYielded) yield batch
        hasYielded = true
        // Without a new batch, wait for the live feed. A batch whose events were all filtered out is not the end of the
        // log.
        if (batch.caughtUp || !hasAdvanced) await this.#signal.wait()
      }
    } finally {
      unfollow()
    }
  }

  /** Resolves once the feed is subscribed, or this subscription was stopped. */
  async #follow(): Promise<() => void> {
    while (!this.#stopped) {
      try {
        return await this.options.feed.follow(() => this.#signal.notify())
      } catch (error) {
        await this.#handleInterruption(error)
      }
    }
    return () => {}
  }

  async *#catchUp(): AsyncGenerator<SubscriptionBatch> {
    const history = new CatchUpSubscription(this.options, this.filter, this.#position)
    this.#catchUpSubscription = history
    try {
      for await (const batch of history.read()) {
        this.#position = batch.position
        this.#backOff.reset()
        if (this.#stopped) return
        yield batch
        if (this.#stopped) return
      }
      this.#position = history.position
    } catch (error) {
      await this.#handleInterruption(error)
    }
  }

  /** Errors caused by its own stop are not reported. */
  #handleInterruption(error: unknown): Promise<void> {
    if (!this.#stopped) this.options.onInterrupted(error)
    return this.#backOff.sleep()
  }
}

/** A catch-up subscription, filtered by the server, for events too old for the live feed. */
class CatchUpSubscription {
  #buffer: StreamBuffer | undefined
  #position: PositionOrStart
  /** The last event yielded. Checkpoints may be before it, and the server may repeat events. */
  #lastYielded: PositionOrStart

  constructor(
    private readonly options: EventStoreDBSubscriptionOptions,
    private readonly filter: StreamFilter | undefined,
    from: PositionOrStart,
  ) {
    this.#position = from
    this.#lastYielded = from
  }

  get position(): PositionOrStart {
    return this.#position
  }

  close(): void {
    this.#buffer?.close()
  }

  /**
   * Yields batches until the live feed can continue from `position`.
   * @throws the client's error if the subscription breaks; resume from `position`
   */
  async *read(): AsyncGenerator<SubscriptionBatch> {
    const { connection, feed, readHead, timing } = this.options
    // The server's "caught up" refers to a later time than this.
    const head = await readHead()
    const checkpointReached = (_: unknown, position: Position) => inbox.checkpointReached(position)
    const filter = toServerFilter(this.filter, { checkpointReached, checkpointInterval: CHECKPOINT_INTERVAL })
    const fromPosition = this.#position === 'start' ? START : this.#position
    const node = await connection.node()
    const inbox = new StreamBuffer(
      node.client.subscribeToAll({ ...LEADER_ONLY, fromPosition, filter }, READ_AHEAD),
      node,
    )
    this.#buffer = inbox
    try {
      while (!feed.covers(this.#position)) {
        const arrival = await inbox.next(timing.silenceMs)
        if (arrival === 'end') return
        if (arrival === 'silence') return yield* this.#readRemaining()
        yield this.#batchOf(arrival)
        if (!arrival.caughtUp) continue
        this.#position = laterPosition(this.#position, head)
        return
      }
    } catch (error) {
      connection.reportFailure(node, error)
      throw error
    } finally {
      inbox.close()
    }
  }

  /**
   * Reads the remaining events up to the head: servers before 23.10 do not report that a subscription has caught up, and
   * a subscription may have died silently.
   */
  async *#readRemaining(): AsyncGenerator<SubscriptionBatch> {
    const { reader, readHead } = this.options
    const head = await readHead()
    for await (const event of reader.readAll(this.#position, head, this.filter)) {
      if (comparePositions(event.position, this.#lastYielded) > 0) yield this.#batch([event], event.position)
    }
    this.#position = laterPosition(this.#position, head)
  }

  #batchOf({ events, checkpoint }: BufferedBatch): SubscriptionBatch {
    const fresh: StoredEvent[] = []
    for (const event of events) {
      const stored = toStoredEvent(event)
      if (stored === undefined || comparePositions(stored.position, this.#lastYielded) <= 0) continue
      fresh.push(stored)
      this.#lastYielded = stored.position
    }
    return this.#batch(fresh, laterPosition(this.#lastYielded, checkpoint ?? this.#position))
  }

  #batch(events: readonly StoredEvent[], position: PositionOrStart): SubscriptionBatch {
    this.#lastYielded = laterPosition(this.#lastYielded, events.at(-1)?.position ?? 'start')
    this.#position = laterPosition(this.#position, position)
    return { events, position: this.#position, caughtUp: false }
  }
}

type CheckpointOptions = Required<Pick<AllFilter, 'checkpointReached' | 'checkpointInterval'>>

const toServerFilter = (filter: StreamFilter | undefined, checkpoints: CheckpointOptions) =>
  filter === undefined || filter.prefixes.includes(EMPTY_PREFIX)
    ? streamNameFilter({ ...checkpoints, regex: NON_SYSTEM_STREAMS.source })
    : streamNameFilter({ ...checkpoints, prefixes: [...filter.prefixes] })

/** A prefix of every stream name, including those of the server's own streams. */
const EMPTY_PREFIX = ''
