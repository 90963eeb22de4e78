import type { IncomingMessage } from 'node:http'
import { performance } from 'node:perf_hooks'
import { Transform, type TransformCallback } from 'node:stream'
import type { FairSemaphore, Waiter } from '../../runtime/fairness/semaphores.ts'
import type { ChunkGarbage } from './chunk-garbage.ts'

/** Milliseconds without a byte after which a client's permit is released: who is slow holds up nobody. */
const IDLE = 100

/** Milliseconds that one lasts where others wait: time for a report from who sends as fast as a disk writes. */
const LASTS = 250

export type ThrottleOptions = {
  /** Who asks for a permit. */
  readonly waiter: Waiter
  readonly permits: FairSemaphore
  readonly garbage: ChunkGarbage
}

/** Passes an upload's bytes on while its client holds a permit. Without one, and while the reader is busy, back-pressure pauses `req`. */
export class UploadThrottle extends Transform {
  #permit: (() => void) | undefined
  #permittedAt = 0
  readonly #idle = setTimeout(() => this.#isIdle(), IDLE)

  constructor(
    private readonly req: IncomingMessage,
    private readonly options: ThrottleOptions,
  ) {
    super({ highWaterMark: 1 })
  }

  override async _transform(chunk: Buffer, _encoding: unknown, done: TransformCallback): Promise<void> {
    const { waiter, permits, garbage } = this.options
    if (permits.wanted && performance.now() - this.#permittedAt > LASTS) this.#release()
    if (this.#permit === undefined) {
      this.#permit = await permits.acquire(waiter)
      this.#permittedAt = performance.now()
      if (this.destroyed) this.#release()
    }
    this.#idle.refresh()
    garbage.left(chunk.length)
    done(null, chunk)
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    clearTimeout(this.#idle)
    this.#release()
    done(error)
  }

  #isIdle(): void {
    if (this.req.isPaused()) this.#idle.refresh()
    else this.#release()
  }

  #release(): void {
    this.#permit?.()
    this.#permit = undefined
  }
}
