import type { IncomingMessage } from 'node:http'
import { performance } from 'node:perf_hooks'
import type { Writable } from 'node:stream'
import { Refusal } from '../../../domain/refusal.ts'
import type { FairTurns, Waiter } from '../../../runtime/fairness/fair-turns.ts'
import { Pace, tooSlowMessage, type LeastPace } from '../../../runtime/fairness/pace.ts'
import type { ChunkGarbage } from './chunk-garbage.ts'

export type Bounds = {
  /** Bytes of the whole body at most. */
  readonly limit: number
  /** Milliseconds without a byte. */
  readonly stall: number
  readonly leastPace: LeastPace
  /** Whose turn it is to send. */
  readonly turns: FairTurns
  readonly waiter: Waiter
  readonly garbage: ChunkGarbage
}

/** Milliseconds without a byte after which a client's turn is over: who is slow holds up nobody. */
const IDLE = 100

/** Milliseconds that a turn lasts where others wait for one: time for a report from who sends as fast as a disk writes. */
const TURN = 250

/**
 * Takes a body to its parser while it is its turn, no faster than the parser takes it, and watches what a pipe does not:
 * how much comes, whether anything comes, and whether the client is still there.
 */
export class BodyPump {
  #left: number
  #endTurn: (() => void) | undefined
  #turnBegan = 0
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
    this.#idle = setTimeout(() => this.#giveAway(), IDLE)
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
    this.#giveAway()
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
    if (this.bounds.turns.wanted && performance.now() - this.#turnBegan > TURN) this.#giveAway()
    if (this.#endTurn === undefined) void this.#writeInTurn(chunk)
    else this.#write(chunk)
  }

  async #writeInTurn(chunk: Buffer): Promise<void> {
    this.#pause()
    this.#endTurn = await this.bounds.turns.take(this.bounds.waiter)
    this.#turnBegan = performance.now()
    if (this.#stopped) this.#giveAway()
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

  /** It may come while the last chunk waits for its turn. */
  readonly #onEnd = (): void => {
    this.#ended = true
    if (this.#endTurn !== undefined || !this.#paused) this.parser.end()
  }

  #giveAway(): void {
    if (this.#paused && !this.#stopped) return
    this.#endTurn?.()
    this.#endTurn = undefined
  }

  #isStalled(): void {
    if (this.#paused) this.#stalled.refresh()
    else this.fail(new Refusal('too-slow', `Nothing more of the body came within ${this.bounds.stall / 1000} s`))
  }

  readonly #onGone = (): void => {
    if (!this.req.complete) this.fail(new Refusal('malformed', 'The connection broke while the body was read'))
  }
}
