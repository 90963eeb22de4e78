import { monitorEventLoopDelay, performance } from 'node:perf_hooks'

/** Milliseconds between two samples. */
const RESOLUTION_MS = 20

/** Delay of the event loop since the last call: the latency it adds to everything this process serves. */
export class EventLoopDelay {
  readonly #monitor = monitorEventLoopDelay({ resolution: RESOLUTION_MS })

  constructor() {
    this.#monitor.enable()
  }

  /** Seconds, without the sampling interval. */
  byQuantile(): Readonly<Record<'0.5' | '0.99' | '1', number>> {
    const delayAt = (percentile: number) => toDelaySeconds(this.#monitor.percentile(percentile))
    const delays = { '0.5': delayAt(50), '0.99': delayAt(99), '1': toDelaySeconds(this.#monitor.max) }
    this.#monitor.reset()
    return delays
  }

  stop(): void {
    this.#monitor.disable()
  }
}

const toDelaySeconds = (nanoseconds: number) => Math.max(0, nanoseconds / 1e9 - RESOLUTION_MS / 1e3)

/** Milliseconds of work before the event loop is yielded. */
const SLICE_MS = 8

/**
 * Takes turns between long-running tasks, one slice per turn of the event loop: twenty concurrent bulk requests block
 * it no longer at a time than one does.
 */
class EventLoopYielder {
  readonly #waiting: (() => void)[] = []

  /** Resolves in a later turn of the event loop, exclusive to this task. */
  waitForTurn(): Promise<void> {
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

/** One per thread, like the event loop. */
const eventLoopYielder = new EventLoopYielder()

/** Resolves in a later turn of the event loop, in which no other task that waits for one runs. */
export const waitForTurn = (): Promise<void> => eventLoopYielder.waitForTurn()

/** Like `items.map(each)`, but yields the event loop after each time slice. @throws the error of `each` */
export async function mapInSlices<Item, Result>(
  items: readonly Item[],
  each: (item: Item, index: number) => Result,
): Promise<Result[]> {
  const results: Result[] = []
  let until = performance.now() + SLICE_MS
  for (const [index, item] of items.entries()) {
    if (performance.now() >= until) {
      await waitForTurn()
      until = performance.now() + SLICE_MS
    }
    results.push(each(item, index))
  }
  return results
}

/** The same items, but yields the event loop after each time slice, even if their source never waits. @throws its errors */
export async function* inSlices<Item>(items: AsyncIterable<Item>): AsyncGenerator<Item> {
  let until = performance.now() + SLICE_MS
  for await (const item of items) {
    yield item
    if (performance.now() < until) continue
    await waitForTurn()
    until = performance.now() + SLICE_MS
  }
}
