import type { IncomingMessage } from 'node:http'
import { performance } from 'node:perf_hooks'
import { Transform, type TransformCallback } from 'node:stream'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { FairSemaphore, PermitRequest } from '../../runtime/fairness/semaphores.ts'

type MinorCollection = (options: { readonly type: 'minor' }) => void

/**
 * Triggers a minor garbage collection after every `bytesPerCollection` bytes of used chunks, which takes about 1 ms. V8 counts
 * a 64 KiB buffer as about 100 bytes of young generation, so uploads would otherwise accumulate over 64 MB of garbage.
 */
export class ChunkGarbageCollector {
  #bytes = 0
  readonly #collect = exposeMinorCollection()

  constructor(private readonly bytesPerCollection: number) {}

  /** Records a chunk that has become garbage. */
  recordUsed(bytes: number): void {
    this.#bytes += bytes
    if (this.#bytes < this.bytesPerCollection) return
    this.#bytes = 0
    this.#collect({ type: 'minor' })
  }
}

/** Node exposes `gc` only with a flag, which may be set and unset at run time: https://nodejs.org/api/v8.html */
function exposeMinorCollection(): MinorCollection {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as MinorCollection
  setFlagsFromString('--no-expose-gc')
  return collect
}

/** Milliseconds without data after which a permit is released, so that a slow client does not block others. */
const IDLE_TIMEOUT_MS = 100

/** How long a permit lasts while others wait: enough for a fast client to send a whole report. */
const PERMIT_DURATION_MS = 250

export type ThrottleOptions = {
  readonly waiter: PermitRequest
  readonly permits: FairSemaphore
  readonly garbageCollector: ChunkGarbageCollector
}

/** Forwards an upload only while its client holds a permit; otherwise back-pressure pauses `req`. */
export class UploadThrottle extends Transform {
  #permit: (() => void) | undefined
  #permittedAt = 0
  readonly #idleTimer = setTimeout(() => this.#releaseIfIdle(), IDLE_TIMEOUT_MS)

  constructor(
    private readonly req: IncomingMessage,
    private readonly options: ThrottleOptions,
  ) {
    super({ highWaterMark: 1 })
  }

  override async _transform(chunk: Buffer, _encoding: unknown, done: TransformCallback): Promise<void> {
    const { waiter, permits, garbageCollector } = this.options
    if (permits.hasWaiters && performance.now() - this.#permittedAt > PERMIT_DURATION_MS) this.#release()
    if (this.#permit === undefined) {
      this.#permit = await permits.acquire(waiter)
      this.#permittedAt = performance.now()
      if (this.destroyed) this.#release()
    }
    this.#idleTimer.refresh()
    garbageCollector.recordUsed(chunk.length)
    done(null, chunk)
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    clearTimeout(this.#idleTimer)
    this.#release()
    done(error)
  }

  #releaseIfIdle(): void {
    if (this.req.isPaused()) this.#idleTimer.refresh()
    else this.#release()
  }

  #release(): void {
    this.#permit?.()
    this.#permit = undefined
  }
}
