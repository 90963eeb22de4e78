import { ID_STREAM_PREFIX, idsFold, reserveIds } from '../../domain/installation/installation.ts'
import type { Origin } from '../../events/event-metadata.ts'
import { handle } from '../core/handle.ts'
import type { CommandContext } from '../core/command-context.ts'

type IdAllocatorOptions = CommandContext & {
  /** Ids are reserved in the stream `ids-{kind}`. */
  readonly kind: string
  /** Ids per reservation. Ids that a process has not used when it ends are lost. */
  readonly size: number
  /** Prefetch the next block when fewer than this many ids are left. 0 or undefined: fetch on demand only. */
  readonly prefetchThreshold?: number
  readonly origin: Origin
}

/**
 * Allocates integer ids that are unique across processes, from blocks reserved in the event log. Within a process, ids
 * ascend in the order of the calls that did not have to wait for a block.
 */
export class IdAllocator {
  readonly #options: IdAllocatorOptions
  readonly #blocks: { next: number; readonly to: number }[] = []
  #available = 0
  #fetching: Promise<void> | undefined

  constructor(options: IdAllocatorOptions) {
    this.#options = options
  }

  /** @throws StoreUnavailable */
  async take(): Promise<number> {
    while (this.#available === 0) await this.#fetch(1)
    const id = this.#next()
    this.#prefetch()
    return id
  }

  /** `count` ascending ids. @throws StoreUnavailable */
  async takeMany(count: number): Promise<number[]> {
    while (this.#available < count) await this.#fetch(count - this.#available)
    const ids = Array.from({ length: count }, () => this.#next())
    this.#prefetch()
    return ids
  }

  #next(): number {
    const block = this.#blocks[0]
    if (block === undefined) throw new Error('No id is available')
    const id = block.next++
    this.#available--
    if (id === block.to) this.#blocks.shift()
    return id
  }

  #prefetch(): void {
    if (this.#available >= (this.#options.prefetchThreshold ?? 0) || this.#fetching !== undefined) return
    // If prefetching fails, the next call that needs a block rejects.
    this.#fetch(1).catch(() => undefined)
  }

  /** Concurrent callers share one fetch; a caller for whom it was not enough fetches again. */
  #fetch(atLeast: number): Promise<void> {
    this.#fetching ??= this.#reserve(Math.max(this.#options.size, atLeast)).finally(() => (this.#fetching = undefined))
    return this.#fetching
  }

  async #reserve(size: number): Promise<void> {
    const { kind, origin } = this.#options
    const target = { stream: `${ID_STREAM_PREFIX}${kind}`, origin }
    const { events } = await handle(this.#options, target, idsFold, (last) => [reserveIds(last, size)])
    for (const { data } of events) {
      this.#blocks.push({ next: data.from, to: data.to })
      this.#available += data.to - data.from + 1
    }
  }
}
