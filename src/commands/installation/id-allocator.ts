import { ID_STREAM_PREFIX, idsDecider, reserveIds } from '../../domain/installation/installation.ts'
import type { Origin } from '../../events/event-metadata.ts'
import { handle, type CommandContext } from '../core/handle.ts'

export type IdAllocatorOptions = CommandContext & {
  /** The ids are those of stream `ids-{kind}`: `diamond`, `certification`, `account` ... */
  readonly kind: string
  /** How many ids one event reserves. What a process has not given out when it ends is never given out. */
  readonly size: number
  /** With so few ids left the next block is fetched ahead; 0 fetches only when the last one is gone. */
  readonly ahead?: number
  readonly origin: Origin
}

/**
 * Integer ids that no two processes ever share, out of blocks reserved in the log.
 * Within a process they ascend in the order of the calls that found ids at hand.
 */
export class IdAllocator {
  readonly #options: IdAllocatorOptions
  readonly #blocks: { next: number; readonly to: number }[] = []
  #left = 0
  #fetching: Promise<void> | undefined

  constructor(options: IdAllocatorOptions) {
    this.#options = options
  }

  /**
   * One id, without a promise when one is at hand.
   * @throws StoreUnavailable (by the promise)
   */
  take(): number | Promise<number> {
    if (this.#left === 0) return this.#fetch(1).then(() => this.take())
    const id = this.#next()
    this.#fetchAhead()
    return id
  }

  /**
   * `count` ascending ids, without a promise when so many are at hand.
   * @throws StoreUnavailable (by the promise)
   */
  takeMany(count: number): number[] | Promise<number[]> {
    if (this.#left < count) return this.#fetch(count - this.#left).then(() => this.takeMany(count))
    const ids = Array.from({ length: count }, () => this.#next())
    this.#fetchAhead()
    return ids
  }

  #next(): number {
    const block = this.#blocks[0]
    if (block === undefined) throw new Error('No id is at hand')
    const id = block.next++
    this.#left--
    if (id === block.to) this.#blocks.shift()
    return id
  }

  #fetchAhead(): void {
    if (this.#left >= (this.#options.ahead ?? 0) || this.#fetching !== undefined) return
    // A store that is away is told to the caller who finds no id left.
    this.#fetch(1).catch(() => undefined)
  }

  /** Everyone who waits shares the fetch under way, and asks again when it was not enough. */
  #fetch(atLeast: number): Promise<void> {
    this.#fetching ??= this.#reserve(Math.max(this.#options.size, atLeast)).finally(() => (this.#fetching = undefined))
    return this.#fetching
  }

  async #reserve(size: number): Promise<void> {
    const { kind, origin } = this.#options
    const target = { stream: `${ID_STREAM_PREFIX}${kind}`, origin }
    const { events } = await handle(this.#options, target, idsDecider, (last) => [reserveIds(last, size)])
    for (const { data } of events) {
      this.#blocks.push({ next: data.from, to: data.to })
      this.#left += data.to - data.from + 1
    }
  }
}
