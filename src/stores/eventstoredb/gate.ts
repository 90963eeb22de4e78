import { closedBy, COPY_STREAM, LOG_STREAM, passes, type Closed } from '../../domain/installation/moving.ts'
import { LogClosed } from '../ports/event-store.ts'
import type { Reader } from './reader.ts'
import { SharedAnswer } from './shared-answer.ts'

/** Milliseconds after which an append that passes has the gate looked at again, behind it. */
const FRESH = 500
/** Milliseconds after which an append waits until somebody has looked. */
export const TRUSTED = 1_500

/**
 * Lets appends pass while the log is not closed. No append can have the server look for a fence in another stream, so
 * each process looks by itself: what it knows is never older than TRUSTED when an append is sent.
 */
export class Gate {
  readonly #look: SharedAnswer<Closed | undefined>
  #closed: Closed | undefined
  #lookedAt = Number.NEGATIVE_INFINITY

  constructor(private readonly reader: Reader) {
    this.#look = new SharedAnswer(() => this.#read())
  }

  /** @throws StoreUnavailable */
  state(): Promise<Closed | undefined> {
    return this.#look.get()
  }

  /** Without a promise where it is known well enough that the log is open. @throws LogClosed, StoreUnavailable */
  pass(stream: string, types: readonly string[]): void | Promise<void> {
    const age = performance.now() - this.#lookedAt
    if (this.#closed !== undefined || age > TRUSTED) return this.#passLater(stream, types)
    // Where it can't be looked at, an append waits for it soon.
    if (age > FRESH) this.state().catch(() => undefined)
  }

  /** The next append waits for a look. */
  forget(): void {
    this.#lookedAt = Number.NEGATIVE_INFINITY
  }

  async #passLater(stream: string, types: readonly string[]): Promise<void> {
    const closed = await this.state()
    if (closed !== undefined && !passes(closed, stream, types)) throw new LogClosed(closed)
  }

  async #read(): Promise<Closed | undefined> {
    const asked = performance.now()
    const [[log], copy] = await Promise.all([this.reader.newest(LOG_STREAM, 1), this.reader.stream(COPY_STREAM)])
    this.#closed = closedBy(log, copy)
    this.#lookedAt = asked
    return this.#closed
  }
}
