import { START, streamNameFilter } from '@eventstore/db-client'
import { InterruptibleSleep } from '../../runtime/interruptible-sleep.ts'
import {
  comparePositions,
  passesFilter,
  type SubscriptionBatch,
  type StreamFilter,
  type PositionOrStart,
  type Position,
  type StoredEvent,
} from '../ports/event-store.ts'
import type { EventStoreDBConnection } from './connection.ts'
import { toStoredEvent } from './encoding.ts'
import type { InterruptionListener } from './failure.ts'
import { StreamBuffer, type BufferedBatch } from './stream-buffer.ts'
import { LEADER_ONLY } from './node.ts'
import { READ_AHEAD } from './reader.ts'
import { BackOff, type Timing } from './timing.ts'

/** Limits of the newest events kept in memory for subscriptions near the head. */
const MAX_EVENTS = 5_000
/** Trims only when the limit is exceeded by this factor, because trimming copies the remaining events. */
const SLACK = 1.25
/** Positions of EventStoreDB count bytes of its log. */
const MAX_BYTES = 32n * 1024n * 1024n

/** The newest events in memory: all after `start`. Subscriptions further behind read from the server. */
class LiveFeedTail {
  #events: StoredEvent[] = []
  #start: PositionOrStart
  #end: PositionOrStart

  constructor(start: PositionOrStart) {
    this.#start = start
    this.#end = start
  }

  get end(): PositionOrStart {
    return this.#end
  }

  /** Ignores an event that was received before. */
  add(event: StoredEvent): void {
    if (comparePositions(event.position, this.#end) <= 0) return
    this.#events.push(event)
    this.#end = event.position
  }

  /** Drops the oldest events. Call it after adding some. */
  trim(): void {
    const newest = this.#events.at(-1)?.position.commit ?? 0n
    const isTooOld = ({ position }: StoredEvent) => newest - position.commit > MAX_BYTES
    let dropCount = this.#events.length > MAX_EVENTS * SLACK ? this.#events.length - MAX_EVENTS : 0
    for (let event = this.#events[dropCount]; event !== undefined && isTooOld(event); event = this.#events[dropCount])
      dropCount++
    if (dropCount === 0) return
    this.#start = this.#events[dropCount - 1]?.position ?? this.#start
    this.#events = this.#events.slice(dropCount)
  }

  covers(position: PositionOrStart): boolean {
    return comparePositions(position, this.#start) >= 0
  }

  /** Up to `limit` events after a position that the tail covers. */
  eventsAfter(position: PositionOrStart, limit: number): readonly StoredEvent[] {
    const from = this.#indexAfter(position)
    return this.#events.slice(from, from + limit)
  }

  #indexAfter(position: PositionOrStart): number {
    let [low, high] = [0, this.#events.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      const event = this.#events[middle]
      if (event !== undefined && comparePositions(event.position, position) <= 0) low = middle + 1
      else high = middle
    }
    return low
  }
}

const PAGE = 1_000

/** The server sends a checkpoint after this many windows of 32 events that its filter excludes. */
export const CHECKPOINT_INTERVAL = 32

export const NON_SYSTEM_STREAMS = /^[^$]/

/**
 * The process's one live subscription to all streams except the server's own. It tells every subscriber how far the log
 * was read, which filtered subscriptions report only occasionally, and keeps the newest events in memory. It
 * resubscribes after a failure, or when it receives nothing although there are new events.
 */
export class LiveFeed {
  readonly #followers = new Set<() => void>()
  #tail: LiveFeedTail | undefined
  #newestPosition: PositionOrStart = 'start'
  #running: Promise<void> | undefined
  #buffer: StreamBuffer | undefined
  readonly #gathering = new InterruptibleSleep()
  readonly #backOff: BackOff

  constructor(
    private readonly connection: EventStoreDBConnection,
    private readonly readHead: () => Promise<PositionOrStart>,
    /** Whether an append of this process is pending, so that its event will arrive soon. */
    private readonly isAppending: () => boolean,
    /** Called with the newest event received and the server's later checkpoint. */
    private readonly onCheckpoint: (newest: PositionOrStart, checkpoint: Position) => void,
    private readonly timing: Timing,
    private readonly onInterrupted: InterruptionListener,
  ) {
    this.#backOff = new BackOff(timing)
  }

  /** Records a position that exists: subscribers before it have not caught up. */
  observePosition(position: PositionOrStart): void {
    if (comparePositions(position, this.#newestPosition) > 0) this.#newestPosition = position
    if (!this.isAppending()) this.#gathering.wake()
  }

  /**
   * Subscribes as long as there are followers. Resolves once the feed has a start position.
   * @throws StoreUnavailable
   */
  async follow(wake: () => void): Promise<() => void> {
    if (this.#tail === undefined) {
      const head = await this.readHead()
      this.#tail ??= new LiveFeedTail(head)
    }
    this.#followers.add(wake)
    this.#running ??= this.#run().finally(() => (this.#running = undefined))
    return () => this.#removeFollower(wake)
  }

  /** The events after a position; undefined if they are not all in memory. */
  batchAfter(position: PositionOrStart, filter: StreamFilter | undefined): SubscriptionBatch | undefined {
    if (this.#tail?.covers(position) !== true) return undefined
    const found = this.#tail.eventsAfter(position, PAGE)
    const last = found.at(-1)
    const end = last?.position ?? position
    const events = filter === undefined ? found : found.filter((event) => passesFilter(event, filter))
    const caughtUp = comparePositions(end, this.#tail.end) >= 0 && comparePositions(end, this.#newestPosition) >= 0
    return { events, position: end, caughtUp, ...(last && { last }) }
  }

  covers(position: PositionOrStart): boolean {
    return this.#tail?.covers(position) === true
  }

  async close(): Promise<void> {
    this.#followers.clear()
    this.#gathering.wake()
    this.#buffer?.close()
    this.#backOff.wake()
    await this.#running
  }

  #removeFollower(wake: () => void): void {
    this.#followers.delete(wake)
    if (this.#followers.size > 0) return
    this.#buffer?.close()
    this.#backOff.wake()
  }

  async #run(): Promise<void> {
    while (this.#followers.size > 0) {
      const before = this.#tail?.end
      try {
        await this.#listen()
      } catch (error) {
        // Errors after the last follower has left are expected.
        if (this.#followers.size > 0) this.onInterrupted(error)
      }
      if (this.#tail?.end !== before) this.#backOff.reset()
      if (this.#followers.size > 0) await this.#backOff.sleep()
    }
    this.#tail = undefined
  }

  async #listen(): Promise<void> {
    const tail = this.#tail
    if (tail === undefined || this.#followers.size === 0) return
    const fromPosition = tail.end === 'start' ? START : tail.end
    const node = await this.connection.node()
    const checkpointReached = (_: unknown, position: Position) => inbox.checkpointReached(position)
    const filter = streamNameFilter({
      regex: NON_SYSTEM_STREAMS.source,
      checkpointReached,
      checkpointInterval: CHECKPOINT_INTERVAL,
    })
    const inbox: StreamBuffer = new StreamBuffer(
      node.client.subscribeToAll({ ...LEADER_ONLY, fromPosition, filter }, READ_AHEAD),
      node,
    )
    this.#buffer = inbox
    try {
      for (;;) {
        const arrival = await inbox.next(this.timing.silenceMs)
        if (arrival === 'end') return
        if (arrival === 'silence') {
          if (await this.#isMissingEvents(tail)) return
          continue
        }
        this.#receive(tail, arrival)
        if (this.#isMoreComing(tail)) {
          await this.#gathering.sleep(this.timing.gatheringMs)
          this.#receive(tail, inbox.takeAvailable())
        }
        tail.trim()
        this.#wakeAll()
      }
    } catch (error) {
      this.connection.reportFailure(node, error)
      throw error
    } finally {
      inbox.close()
    }
  }

  /** True if the server has events that it has not sent: the subscription is dead without an error. */
  async #isMissingEvents(tail: LiveFeedTail): Promise<boolean> {
    const before = tail.end
    if (comparePositions(this.#newestPosition, before) > 0) return true
    const head = await this.readHead()
    this.observePosition(head)
    return comparePositions(head, tail.end) > 0 && tail.end === before
  }

  #receive(tail: LiveFeedTail, { events, checkpoint }: BufferedBatch): void {
    for (const event of events) {
      const stored = toStoredEvent(event)
      if (stored !== undefined) tail.add(stored)
    }
    this.observePosition(tail.end)
    if (checkpoint !== undefined) this.onCheckpoint(tail.end, checkpoint)
  }

  /** Whether to wait for more events. False with a single writer, so that it is not delayed. */
  #isMoreComing(tail: LiveFeedTail): boolean {
    return this.isAppending() || comparePositions(tail.end, this.#newestPosition) < 0
  }

  #wakeAll(): void {
    for (const wake of this.#followers) wake()
  }
}

/** The later of two positions. */
export const laterPosition = (a: PositionOrStart, b: PositionOrStart | Position): PositionOrStart =>
  comparePositions(a, b) >= 0 ? a : b
