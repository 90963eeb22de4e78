import { START, streamNameFilter } from '@eventstore/db-client'
import { InterruptibleSleep } from '../../runtime/interruptible-sleep.ts'
import { BackOff } from '../log/back-off.ts'
import { LogTail } from '../log/tail.ts'
import { comparePositions, type Position, type PositionOrStart } from '../ports/event-store.ts'
import type { EventStoreDBConnection } from './connection.ts'
import { toStoredEvent } from './encoding.ts'
import type { InterruptionListener } from './failure.ts'
import { StreamBuffer, type BufferedBatch } from './stream-buffer.ts'
import { LEADER_ONLY } from './node.ts'
import { READ_AHEAD } from './reader.ts'
import type { Timing } from './timing.ts'

/** Limits of the newest events kept in memory for subscriptions near the head. */
const TAIL_LIMITS = { maxEvents: 5_000, maxBytes: 32 * 1024 * 1024 }

/** The server sends a checkpoint after this many windows of 32 events that its filter excludes. */
export const CHECKPOINT_INTERVAL = 32

export const NON_SYSTEM_STREAMS = /^[^$]/

/**
 * The process's one live subscription to all streams except the server's own. It tells every subscriber how far the log
 * was read, which filtered subscriptions report only occasionally, and keeps the newest events in memory. It
 * resubscribes after a failure, or when it receives nothing although there are new events.
 */
export class LiveFeed {
  readonly tail = new LogTail(TAIL_LIMITS)
  #running: Promise<void> | undefined
  #isClosed = false
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
    this.tail.observeHead(position)
    if (!this.isAppending()) this.#gathering.wake()
  }

  /**
   * Subscribes as long as there are followers. Resolves once the feed has a start position.
   * @throws StoreUnavailable
   */
  async follow(wake: () => void): Promise<() => void> {
    if (!this.tail.isStarted) {
      const head = await this.readHead()
      if (!this.tail.isStarted) this.tail.startAt(head)
    }
    const unfollow = this.tail.follow(wake)
    this.#running ??= this.#run().finally(() => (this.#running = undefined))
    return () => {
      unfollow()
      if (!this.tail.isFollowed) this.#interrupt()
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#interrupt()
    await this.#running
  }

  #interrupt(): void {
    this.#gathering.wake()
    this.#buffer?.close()
    this.#backOff.wake()
  }

  get #isNeeded(): boolean {
    return this.tail.isFollowed && !this.#isClosed
  }

  async #run(): Promise<void> {
    while (this.#isNeeded) {
      const before = this.tail.end
      try {
        await this.#listen()
      } catch (error) {
        // Errors after the last follower has left are expected.
        if (this.#isNeeded) this.onInterrupted(error)
      }
      if (this.tail.end !== before) this.#backOff.reset()
      if (this.#isNeeded) await this.#backOff.sleep()
    }
    this.tail.stop()
  }

  async #listen(): Promise<void> {
    if (!this.#isNeeded) return
    const fromPosition = this.tail.end === 'start' ? START : this.tail.end
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
          if (await this.#isMissingEvents()) return
          continue
        }
        this.#receive(arrival)
        if (this.#isMoreComing) {
          await this.#gathering.sleep(this.timing.gatheringMs)
          this.#receive(inbox.takeAvailable())
        }
        this.tail.trim()
        this.tail.wakeFollowers()
      }
    } catch (error) {
      this.connection.reportFailure(node, error)
      throw error
    } finally {
      inbox.close()
    }
  }

  /** True if the server has events that it has not sent: the subscription is dead without an error. */
  async #isMissingEvents(): Promise<boolean> {
    const before = this.tail.end
    if (comparePositions(this.tail.head, before) > 0) return true
    const head = await this.readHead()
    this.observePosition(head)
    return comparePositions(head, this.tail.end) > 0 && this.tail.end === before
  }

  /** Ignores events that were received before. */
  #receive({ events: received, checkpoint }: BufferedBatch): void {
    const before = this.tail.end
    const events = received
      .map(toStoredEvent)
      .filter((event) => event !== undefined)
      .filter(({ position }) => comparePositions(position, before) > 0)
    const end = events.at(-1)?.position
    // Positions of EventStoreDB count bytes of its log.
    const bytes = end === undefined || before === 'start' ? 0 : Number(end.commit - before.commit)
    if (end !== undefined) this.tail.add({ before, end, events, bytes })
    this.observePosition(this.tail.end)
    if (checkpoint !== undefined) this.onCheckpoint(this.tail.end, checkpoint)
  }

  /** Whether to wait for more events. False with a single writer, so that it is not delayed. */
  get #isMoreComing(): boolean {
    return this.isAppending() || comparePositions(this.tail.end, this.tail.head) < 0
  }
}
