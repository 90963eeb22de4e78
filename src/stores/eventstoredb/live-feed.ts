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

/** How much of the newest events is kept for subscriptions that follow closely. */
const MAX_EVENTS = 5_000
/** So many times more are kept before the oldest go: moving the others costs something. */
const SLACK = 1.25
/** Positions of EventStoreDB count bytes of its log. */
const MAX_BYTES = 32n * 1024n * 1024n

/** The newest events in memory, all of them behind `start`. Whoever is further behind reads the server. */
class LiveFeedTail {
  #events: StoredEvent[] = []
  #start: PositionOrStart
  #end: PositionOrStart

  constructor(start: PositionOrStart) {
    this.#start = start
    this.#end = start
  }

  /** How far the log has been heard. */
  get end(): PositionOrStart {
    return this.#end
  }

  /** An event that was heard before is left out. */
  add(event: StoredEvent): void {
    if (comparePositions(event.position, this.#end) <= 0) return
    this.#events.push(event)
    this.#end = event.position
  }

  /** Forgets the oldest events; call it after adding some. */
  trim(): void {
    const newest = this.#events.at(-1)?.position.commit ?? 0n
    const isTooOld = ({ position }: StoredEvent) => newest - position.commit > MAX_BYTES
    let gone = this.#events.length > MAX_EVENTS * SLACK ? this.#events.length - MAX_EVENTS : 0
    for (let event = this.#events[gone]; event !== undefined && isTooOld(event); event = this.#events[gone]) gone++
    if (gone === 0) return
    this.#start = this.#events[gone - 1]?.position ?? this.#start
    this.#events = this.#events.slice(gone)
  }

  covers(position: PositionOrStart): boolean {
    return comparePositions(position, this.#start) >= 0
  }

  /** At most so many events behind a position that it covers. */
  eventsAfter(position: PositionOrStart, most: number): readonly StoredEvent[] {
    const from = this.#indexBehind(position)
    return this.#events.slice(from, from + most)
  }

  #indexBehind(position: PositionOrStart): number {
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

/** Events a batch. */
const PAGE = 1_000

/** Windows of 32 events that pass the server's filter by, between two checkpoints. */
export const CHECKPOINT_INTERVAL = 32

/** Every stream but the server's own. */
export const NON_SYSTEM_STREAMS = /^[^$]/

/**
 * The one live subscription of this process, to all streams but the server's own: whatever its filter, each subscriber
 * learns from it how far the log has come, which filtered subscriptions tell only now and then. The newest events stay
 * in memory. It subscribes again whenever it fails, or brings nothing although something is there.
 */
export class LiveFeed {
  readonly #followers = new Set<() => void>()
  #tail: LiveFeedTail | undefined
  #known: PositionOrStart = 'start'
  #running: Promise<void> | undefined
  #buffer: StreamBuffer | undefined
  readonly #gathering = new InterruptibleSleep()
  readonly #backOff: BackOff

  constructor(
    private readonly connection: EventStoreDBConnection,
    private readonly readHead: () => Promise<PositionOrStart>,
    /** Whether an append of this process is on its way, so that its event soon is. */
    private readonly isAppending: () => boolean,
    /** Is told the newest event that was heard, and the server's checkpoint behind it. */
    private readonly onCheckpoint: (newest: PositionOrStart, checkpoint: Position) => void,
    private readonly timing: Timing,
    private readonly onInterrupted: InterruptionListener,
  ) {
    this.#backOff = new BackOff(timing)
  }

  /** Takes note of a position that exists: nobody before it has caught up. */
  observePosition(position: PositionOrStart): void {
    if (comparePositions(position, this.#known) > 0) this.#known = position
    if (!this.isAppending()) this.#gathering.wake()
  }

  /**
   * Listens for as long as somebody follows. Resolves when the feed has a beginning.
   * @throws StoreUnavailable
   */
  async follow(wake: () => void): Promise<() => void> {
    if (this.#tail === undefined) {
      const head = await this.readHead()
      this.#tail ??= new LiveFeedTail(head)
    }
    this.#followers.add(wake)
    this.#running ??= this.#run().finally(() => (this.#running = undefined))
    return () => this.#leave(wake)
  }

  /** What lies behind a position; undefined when not all of it is in memory. */
  batchAfter(position: PositionOrStart, filter: StreamFilter | undefined): SubscriptionBatch | undefined {
    if (this.#tail?.covers(position) !== true) return undefined
    const found = this.#tail.eventsAfter(position, PAGE)
    const last = found.at(-1)
    const end = last?.position ?? position
    const events = filter === undefined ? found : found.filter((event) => passesFilter(event, filter))
    const caughtUp = comparePositions(end, this.#tail.end) >= 0 && comparePositions(end, this.#known) >= 0
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

  #leave(wake: () => void): void {
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
        // What breaks because nobody follows any more is no failure.
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
          if (await this.#isMissing(tail)) return
          continue
        }
        this.#hear(tail, arrival)
        if (this.#isMoreComing(tail)) {
          await this.#gathering.sleep(this.timing.gatheringMs)
          this.#hear(tail, inbox.takeAvailable())
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

  /** True when the server has more than it has sent since: the subscription is dead without knowing it. */
  async #isMissing(tail: LiveFeedTail): Promise<boolean> {
    const before = tail.end
    if (comparePositions(this.#known, before) > 0) return true
    const head = await this.readHead()
    this.observePosition(head)
    return comparePositions(head, tail.end) > 0 && tail.end === before
  }

  #hear(tail: LiveFeedTail, { events, checkpoint }: BufferedBatch): void {
    for (const event of events) {
      const stored = toStoredEvent(event)
      if (stored !== undefined) tail.add(stored)
    }
    this.observePosition(tail.end)
    if (checkpoint !== undefined) this.onCheckpoint(tail.end, checkpoint)
  }

  /** False where there is one writer: nobody waits then. */
  #isMoreComing(tail: LiveFeedTail): boolean {
    return this.isAppending() || comparePositions(tail.end, this.#known) < 0
  }

  #wakeAll(): void {
    for (const wake of this.#followers) wake()
  }
}

/** The later one. */
export const later = (a: PositionOrStart, b: PositionOrStart | Position): PositionOrStart =>
  comparePositions(a, b) >= 0 ? a : b
