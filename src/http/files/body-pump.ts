import type { IncomingMessage } from 'node:http'
import { performance } from 'node:perf_hooks'
import type { Writable } from 'node:stream'
import { Refusal } from '../../domain/refusal.ts'
import type { FairSemaphore, Waiter } from '../../runtime/fairness/fair-semaphore.ts'
import { Pace, tooSlowMessage, type LeastPace } from '../../runtime/fairness/pace.ts'
import type { ChunkGarbage } from './chunk-garbage.ts'

export type Bounds = {
  /** Bytes of the whole body at most. */
  readonly limit: number
  /** Milliseconds without a byte. */
  readonly stall: number
  readonly leastPace: LeastPace
  /** Who may send. */
  readonly senders: FairSemaphore
  readonly waiter: Waiter
  readonly garbage: ChunkGarbage
}

/** Milliseconds without a byte after which a client's permit is released: who is slow holds up nobody. */
const IDLE = 100

/** Milliseconds that one lasts where others wait: time for a report from who sends as fast as a disk writes. */
const LASTS = 250

/**
 * Takes a body to its parser while its client has a permit to send, no faster than the parser takes it, and watches what
 * a pipe does not: how much comes, whether anything comes, and whether the client is still there.
 */
export class BodyPump {
  #left: number
  #permit: (() => void) | undefined
  #permittedAt = 0
  #paused = false
  #ended = false
  #stopped = false
  readonly #idle: NodeJS.Timeout
  readonly #stalled: NodeJS.Timeout
  readonly #pace: Pace

  /** @param fail told of a Refusal: too-large, too-slow, malformed for a connection that broke */
  constructor(
    private readonly req: IncomingMessage,
    private readonly parser: Writable,
    private readonly bounds: Bounds,
    private readonly fail: (error: Refusal) => void,
  ) {
    this.#left = bounds.limit
    this.#idle = setTimeout(() => this.#releasePermit(), IDLE)
    this.#stalled = setTimeout(() => this.#isStalled(), bounds.stall)
    this.#pace = new Pace(bounds.leastPace, () => fail(new Refusal('too-slow', tooSlowMessage(bounds.leastPace))))
    req.on('data', this.#onData).on('end', this.#onEnd).on('error', this.#onGone).on('close', this.#onGone)
  }

  stop(): void {
    this.#stopped = true
    clearTimeout(this.#idle)
    clearTimeout(this.#stalled)
    this.#pace.stop()
    // The listener for errors stays: a connection that breaks later is nobody's fault.
    this.req.off('data', this.#onData).off('end', this.#onEnd).off('close', this.#onGone)
    this.#releasePermit()
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#left -= chunk.length
    if (this.#left < 0) {
      this.fail(new Refusal('too-large', `The form may have at most ${this.bounds.limit} bytes`))
      return
    }
    this.#stalled.refresh()
    this.#idle.refresh()
    this.#pace.took(chunk.length)
    if (this.bounds.senders.wanted && performance.now() - this.#permittedAt > LASTS) this.#releasePermit()
    if (this.#permit === undefined) void this.#writeWhenPermitted(chunk)
    else this.#write(chunk)
  }

  async #writeWhenPermitted(chunk: Buffer): Promise<void> {
    this.#pause()
    this.#permit = await this.bounds.senders.acquire(this.bounds.waiter)
    this.#permittedAt = performance.now()
    if (this.#stopped) this.#releasePermit()
    else {
      this.#resume()
      this.#write(chunk)
    }
  }

  #write(chunk: Buffer): void {
    if (!this.parser.write(chunk)) {
      this.#pause()
      this.parser.once('drain', () => this.#resume())
    }
    this.bounds.garbage.left(chunk.length)
    if (this.#ended) this.parser.end()
  }

  #pause(): void {
    this.#paused = true
    this.#pace.pause()
    this.req.pause()
  }

  /** Time that passed meanwhile was not the client's. */
  #resume(): void {
    this.#paused = false
    if (this.#stopped) return
    this.#pace.resume()
    this.#stalled.refresh()
    this.#idle.refresh()
    this.req.resume()
  }

  /** It may come while the last chunk waits for a permit. */
  readonly #onEnd = (): void => {
    this.#ended = true
    if (this.#permit !== undefined || !this.#paused) this.parser.end()
  }

  #releasePermit(): void {
    if (this.#paused && !this.#stopped) return
    this.#permit?.()
    this.#permit = undefined
  }

  #isStalled(): void {
    if (this.#paused) this.#stalled.refresh()
    else this.fail(new Refusal('too-slow', `Nothing more of the body came within ${this.bounds.stall / 1000} s`))
  }

  readonly #onGone = (): void => {
    if (!this.req.complete) this.fail(new Refusal('malformed', 'The connection broke while the body was read'))
  }
}
