import { monitorEventLoopDelay, performance } from 'node:perf_hooks'

/** Milliseconds between two looks. */
const RESOLUTION_MS = 20

/** How late the event loop comes to what is due, since this was asked last: what everybody who is served waits for. */
export class EventLoopDelay {
  readonly #monitor = monitorEventLoopDelay({ resolution: RESOLUTION_MS })

  constructor() {
    this.#monitor.enable()
  }

  /** Seconds, without the pause between two looks. */
  since(): { readonly median: number; readonly p99: number; readonly max: number } {
    const { max } = this.#monitor
    const [median, p99] = [this.#monitor.percentile(50), this.#monitor.percentile(99)]
    this.#monitor.reset()
    return { median: toDelaySeconds(median), p99: toDelaySeconds(p99), max: toDelaySeconds(max) }
  }

  stop(): void {
    this.#monitor.disable()
  }
}

const toDelaySeconds = (nanoseconds: number) => Math.max(0, nanoseconds / 1e9 - RESOLUTION_MS / 1e3)

/** Milliseconds that one piece of work keeps the event loop; then whatever else waits has its turn. */
const SLICE_MS = 8

/**
 * Turns of work that takes long, one a turn of the event loop: twenty bulk requests at once hold it up no longer at a time
 * than one does.
 */
class EventLoopYielder {
  readonly #waiting: (() => void)[] = []

  /** Resolves in a later turn of the event loop, which no other long work has. */
  turn(): Promise<void> {
    return new Promise((done) => {
      this.#waiting.push(done)
      if (this.#waiting.length === 1) setImmediate(() => this.#next())
    })
  }

  #next(): void {
    this.#waiting.shift()?.()
    if (this.#waiting.length > 0) setImmediate(() => this.#next())
  }
}

/** There is one event loop in a thread, and so one order of those who would hold it up. */
const eventLoopYielder = new EventLoopYielder()

/** As `items.map(each)`, with a pause for others whenever it has taken a slice of time. @throws what `each` throws */
export async function mapInSlices<Item, Result>(
  items: readonly Item[],
  each: (item: Item, index: number) => Result,
): Promise<Result[]> {
  const results: Result[] = []
  let until = performance.now() + SLICE_MS
  for (const [index, item] of items.entries()) {
    if (performance.now() >= until) {
      await eventLoopYielder.turn()
      until = performance.now() + SLICE_MS
    }
    results.push(each(item, index))
  }
  return results
}
