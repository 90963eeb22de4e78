import type { IncomingMessage } from 'node:http'
import { performance } from 'node:perf_hooks'
import { Transform, type TransformCallback } from 'node:stream'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { FairSemaphore, PermitRequest } from '../../runtime/fairness/semaphores.ts'

type MinorCollection = (options: { readonly type: 'minor' }) => void

/**
 * V8 collects its young objects when their own memory is full, where a chunk of 64 KiB counts as the hundred bytes that
 * refer to it: uploads would leave over 64 MB behind before anything is freed. So each so many bytes of chunks ask for
 * a collection of young objects, which takes about a millisecond.
 */
export class ChunkGarbageCollector {
  #bytes = 0
  readonly #collect = minorCollection()

  /** @param limit bytes of chunks between two collections */
  constructor(private readonly bytesPerCollection: number) {}

  /** Tells of a chunk that has been used. */
  recordUsed(bytes: number): void {
    this.#bytes += bytes
    if (this.#bytes < this.bytesPerCollection) return
    this.#bytes = 0
    this.#collect({ type: 'minor' })
  }
}

/** Node offers it by a flag only, which may be set and taken back at any time: https://nodejs.org/api/v8.html */
function minorCollection(): MinorCollection {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as MinorCollection
  setFlagsFromString('--no-expose-gc')
  return collect
}

/** Milliseconds without a byte after which a client's permit is released: who is slow holds up nobody. */
const IDLE = 100

/** Milliseconds that one lasts where others wait: time for a report from who sends as fast as a disk writes. */
const PERMIT_DURATION_MS = 250

export type ThrottleOptions = {
  /** Who asks for a permit. */
  readonly waiter: PermitRequest
  readonly permits: FairSemaphore
  readonly garbageCollector: ChunkGarbageCollector
}

/** Passes an upload's bytes on while its client holds a permit. Without one, and while the reader is busy, back-pressure pauses `req`. */
export class UploadThrottle extends Transform {
  #permit: (() => void) | undefined
  #permittedAt = 0
  readonly #idle = setTimeout(() => this.#releaseIfIdle(), IDLE)

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
    this.#idle.refresh()
    garbageCollector.recordUsed(chunk.length)
    done(null, chunk)
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    clearTimeout(this.#idle)
    this.#release()
    done(error)
  }

  #releaseIfIdle(): void {
    if (this.req.isPaused()) this.#idle.refresh()
    else this.#release()
  }

  #release(): void {
    this.#permit?.()
    this.#permit = undefined
  }
}
