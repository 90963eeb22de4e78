import type { ResolvedEvent } from '@eventstore/db-client'
import type { Readable } from 'node:stream'
import { Deadline } from '../../runtime/deadline.ts'
import { InterruptibleSleep } from '../../runtime/interruptible-sleep.ts'
import type { Position } from '../ports/event-store.ts'
import { isNodeFailure } from './failure.ts'
import type { EventStoreNode } from './node.ts'

/** What has come since the last look: events, then perhaps how far the server has read past others, and to the end. */
export type BufferedBatch = {
  readonly events: readonly ResolvedEvent[]
  readonly checkpoint: Position | undefined
  readonly caughtUp: boolean
}

/** A read or a subscription of the client. */
export type ClientStream = Readable & { cancel?(): Promise<void>; unsubscribe?(): Promise<void> }

/** So much is taken out of a stream at once; the rest stays there, and holds the server back. */
const MAX_BUFFERED_EVENTS = 1_000

/**
 * Takes a stream of the client's in batches. Neither its iterator nor its `data` events would do: breaking off the
 * iterator leaves the call open on the server, its errors come without an end, and a checkpoint is told before events
 * that were sent ahead of it.
 */
export class StreamBuffer {
  #events: ResolvedEvent[] = []
  #checkpoint: Position | undefined
  #caughtUp = false
  #ended = false
  #error: unknown
  readonly #pause = new InterruptibleSleep()
  #room: () => void = () => {}
  #stay: () => void = () => {}

  constructor(
    private readonly stream: ClientStream,
    private readonly node: Pick<EventStoreNode, 'recordResponse' | 'onClose'>,
  ) {
    stream.on('readable', () => {
      node.recordResponse()
      this.#pause.wake()
    })
    stream.on('end', () => {
      node.recordResponse()
      this.#end(undefined)
    })
    stream.on('error', (error: unknown) => {
      if (!isNodeFailure(error)) node.recordResponse()
      this.#end(error)
    })
    this.#stay = node.onClose(() => this.#end(new Error('its node was given up')))
    stream.on('caughtUp', () => {
      this.#drain()
      this.#caughtUp = true
      this.#pause.wake()
    })
  }

  /** Give it to the subscription as `checkpointReached`: what came before the checkpoint is taken out first. */
  async checkpointReached(position: Position): Promise<void> {
    this.node.recordResponse()
    this.#drain()
    this.#checkpoint = position
    this.#pause.wake()
    if (this.#events.length >= MAX_BUFFERED_EVENTS) await new Promise<void>((done) => (this.#room = done))
  }

  /**
   * Waits for something to come.
   * @returns 'silence' when nothing came in `patience` ms, 'end' at the end and after close()
   * @throws the stream's error, after all that came before it
   */
  async next(patience: number): Promise<BufferedBatch | 'silence' | 'end'> {
    if (this.#take()) return this.#arrival()
    let isLate = false
    const deadline = new Deadline(() => {
      isLate = true
      this.#pause.wake()
    }, patience)
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

  /** What is there already, which may be nothing. */
  takeAvailable(): BufferedBatch {
    this.#take()
    return this.#arrival()
  }

  /**
   * Ends the call, also on the server. What is left is read and thrown away: of a call that is not read to its end the
   * client never lets go.
   */
  close(): void {
    if (this.#ended) return
    this.#end(undefined)
    this.stream.removeAllListeners('readable')
    this.stream.resume()
    const ended = this.stream.unsubscribe?.() ?? this.stream.cancel?.()
    // A call that never came to be can't be ended.
    ended?.catch(() => {})
  }

  #take(): boolean {
    this.#drain(MAX_BUFFERED_EVENTS)
    return this.#events.length > 0 || this.#checkpoint !== undefined || this.#caughtUp
  }

  #drain(most = Number.POSITIVE_INFINITY): void {
    while (this.#events.length < most) {
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
    this.#room()
    return arrival
  }

  #end(error: unknown): void {
    this.#stay()
    this.#ended = true
    this.#error ??= error
    this.#pause.wake()
    this.#room()
  }
}
