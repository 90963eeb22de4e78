import type { ResolvedEvent } from '@eventstore/db-client'
import type { Readable } from 'node:stream'
import { Deadline } from '../../runtime/deadline.ts'
import { InterruptibleSleep } from '../../runtime/interruptible-sleep.ts'
import type { Position } from '../ports/event-store.ts'
import { isServerResponse } from './failure.ts'
import type { EventStoreNode } from './node.ts'

/** What has arrived since the last batch: events, then possibly a checkpoint of the server, then whether it has caught up. */
export type BufferedBatch = {
  readonly events: readonly ResolvedEvent[]
  readonly checkpoint: Position | undefined
  readonly caughtUp: boolean
}

export type ClientStream = Readable & { cancel?(): Promise<void>; unsubscribe?(): Promise<void> }

/** Events taken out of a stream at once. The rest stays in the stream and causes back-pressure on the server. */
const MAX_BUFFERED_EVENTS = 1_000

/**
 * Reads a stream of the client in batches. Its iterator and its `data` events are unsuitable: breaking off the iterator
 * leaves the call open on the server, its errors arrive without an end, and checkpoints are delivered before events
 * that were sent earlier.
 */
export class StreamBuffer {
  #events: ResolvedEvent[] = []
  #checkpoint: Position | undefined
  #caughtUp = false
  #ended = false
  #error: unknown
  readonly #pause = new InterruptibleSleep()
  #releaseBackPressure: () => void = () => {}
  #removeCloseListener: () => void = () => {}

  constructor(
    private readonly stream: ClientStream,
    private readonly node: Pick<EventStoreNode, 'recordResponse' | 'onClose'>,
  ) {
    // A stream that an error or this process has ended also becomes readable, and ends: these are no responses.
    stream.on('readable', () => {
      if (!this.#ended && stream.readableLength > 0) node.recordResponse()
      this.#pause.wake()
    })
    stream.on('end', () => {
      if (!this.#ended) node.recordResponse()
      this.#end(undefined)
    })
    stream.on('error', (error: unknown) => {
      if (isServerResponse(error)) node.recordResponse()
      this.#end(error)
    })
    this.#removeCloseListener = node.onClose((reason) => this.#end(reason))
    stream.on('caughtUp', () => {
      this.#drain()
      this.#caughtUp = true
      this.#pause.wake()
    })
  }

  /** Pass it to the subscription as `checkpointReached`. Takes out the events before the checkpoint first. */
  async checkpointReached(position: Position): Promise<void> {
    this.node.recordResponse()
    this.#drain()
    this.#checkpoint = position
    this.#pause.wake()
    if (this.#events.length >= MAX_BUFFERED_EVENTS)
      await new Promise<void>((done) => (this.#releaseBackPressure = done))
  }

  /**
   * Waits for the next batch.
   * @returns 'silence' if nothing arrived within `timeoutMs` ms, 'end' at the end and after close()
   * @throws the stream's error, after everything that arrived before it
   */
  async next(timeoutMs: number): Promise<BufferedBatch | 'silence' | 'end'> {
    if (this.#take()) return this.#arrival()
    let isLate = false
    const deadline = new Deadline(() => {
      isLate = true
      this.#pause.wake()
    }, timeoutMs)
    try {
      while (!this.#take()) {
        if (this.#error !== undefined) throw this.#error
        if (this.#ended) return 'end'
        if (isLate) return 'silence'
        await this.#pause.sleep()
      }
    } finally {
      deadline.clear()
    }
    return this.#arrival()
  }

  /** What has arrived already; may be empty. */
  takeAvailable(): BufferedBatch {
    this.#take()
    return this.#arrival()
  }

  /**
   * Ends the call, on the server too. The rest is read and discarded, because the client never releases a call that was
   * not read to its end.
   */
  close(): void {
    if (this.#ended) return
    this.#end(undefined)
    this.stream.removeAllListeners('readable')
    this.stream.resume()
    const ended = this.stream.unsubscribe?.() ?? this.stream.cancel?.()
    // A call that was never established cannot be ended.
    ended?.catch(() => {})
  }

  #take(): boolean {
    this.#drain(MAX_BUFFERED_EVENTS)
    return this.#events.length > 0 || this.#checkpoint !== undefined || this.#caughtUp
  }

  #drain(limit = Number.POSITIVE_INFINITY): void {
    while (this.#events.length < limit) {
      const event = this.stream.read() as ResolvedEvent | null
      if (event === null) return
      this.#events.push(event)
    }
  }

  #arrival(): BufferedBatch {
    const arrival = { events: this.#events, checkpoint: this.#checkpoint, caughtUp: this.#caughtUp }
    this.#events = []
    this.#checkpoint = undefined
    this.#caughtUp = false
    this.#releaseBackPressure()
    return arrival
  }

  #end(error: unknown): void {
    this.#removeCloseListener()
    this.#ended = true
    this.#error ??= error
    this.#pause.wake()
    this.#releaseBackPressure()
  }
}
