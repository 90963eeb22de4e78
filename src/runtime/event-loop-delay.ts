import { monitorEventLoopDelay } from 'node:perf_hooks'

/** Milliseconds between two looks. */
const RESOLUTION = 20

/** How late the event loop comes to what is due, since this was asked last: what everybody who is served waits for. */
export class EventLoopDelay {
  readonly #monitor = monitorEventLoopDelay({ resolution: RESOLUTION })

  constructor() {
    this.#monitor.enable()
  }

  /** Seconds, without the pause between two looks. */
  since(): { readonly median: number; readonly p99: number; readonly max: number } {
    const { max } = this.#monitor
    const [median, p99] = [this.#monitor.percentile(50), this.#monitor.percentile(99)]
    this.#monitor.reset()
    return { median: late(median), p99: late(p99), max: late(max) }
  }

  stop(): void {
    this.#monitor.disable()
  }
}

const late = (nanoseconds: number) => Math.max(0, nanoseconds / 1e9 - RESOLUTION / 1e3)
