import { randomUUID } from 'node:crypto'
import { IDS, reserve, type IdsReserved } from '../../domain/installation/ids.ts'
import type { EventStore } from '../../stores/ports/event-store.ts'
import { decode } from '../../events/decode.ts'
import type { Origin } from '../../events/origin.ts'
import { stamp } from '../core/stamp.ts'
import { tries } from '../core/tries.ts'

export type IdBlocksOptions = {
  readonly store: EventStore
  readonly clock: () => number
  /** The ids are those of stream `ids-{kind}`: `diamond`, `certification`, `account` ... */
  readonly kind: string
  /** How many ids one event reserves. What a process has not given out when it ends is never given out. */
  readonly size: number
  /** With so few ids left the next block is fetched ahead; 0 fetches only when the last one is gone. */
  readonly ahead?: number
  readonly origin: Origin
}

/** Processes that reserve at the same moment refuse each other; each round one of them gets through. */
const ATTEMPTS = 50

/**
 * Integer ids that no two processes ever share, out of blocks reserved in the log.
 * Within a process they ascend in the order of the calls that found ids at hand.
 */
export class IdBlocks {
  readonly #options: IdBlocksOptions
  readonly #blocks: { next: number; readonly to: number }[] = []
  #left = 0
  #fetching: Promise<void> | undefined

  constructor(options: IdBlocksOptions) {
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
    const isTriedAgain = tries(ATTEMPTS)
    for (let attempt = 1; ; attempt++) {
      try {
        const { from, to } = await this.#append(size)
        this.#blocks.push({ next: from, to })
        this.#left += to - from + 1
        return
      } catch (error) {
        // After an unknown outcome the block may be ours or not: it is left alone, a gap in the numbers harms nobody.
        if (!isTriedAgain(error)) throw error
        await new Promise<void>((done) => setTimeout(done, Math.random() * Math.min(attempt, 10) * 2))
      }
    }
  }

  async #append(size: number): Promise<IdsReserved['data']> {
    const { store, clock, kind, origin } = this.#options
    const stream = `${IDS}${kind}`
    const [last] = await store.read(stream, { last: 1 })
    const event = reserve(last && decode<IdsReserved>(last), size)
    const now = Math.max(clock(), Date.parse(last?.metadata['at'] ?? '') || 0)
    await store.append(stream, last?.revision ?? 'none', [stamp(origin, now)(randomUUID(), event)])
    return event.data
  }
}
