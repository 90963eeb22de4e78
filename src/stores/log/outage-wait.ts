import { setTimeout as pause } from 'node:timers/promises'
import type { WarningLogger } from '../../runtime/logger.ts'
import { StoreUnavailable } from '../ports/event-store.ts'

/** Milliseconds that a call waits, between two lines that say so, and between two attempts. */
const TIMEOUT_MS = 30_000
const NOTICE_INTERVAL_MS = 5_000
const RETRY_INTERVAL_MS = 250

type OutageWaitOptions = {
  /** The store's display name. */
  readonly store: string
  readonly warn: WarningLogger
  /** Whether the store may respond to the same call later. */
  readonly isOutage: (error: unknown) => boolean
}

/**
 * Repeats the calls of a start while their store is unavailable, so that a server that starts or is slow for some seconds
 * does not end the process. Requests must not wait: call `end` before they arrive.
 */
export class OutageWait {
  #isOver = false
  #lastNoticeAt = Number.NEGATIVE_INFINITY

  constructor(private readonly options: OutageWaitOptions) {}

  /** From now on calls fail at once, including those that wait. */
  end(): void {
    this.#isOver = true
  }

  /** @throws StoreUnavailable if the store is unavailable for 30 s, or the call's error */
  async call<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    const calledAt = performance.now()
    for (;;) {
      try {
        return await work()
      } catch (error) {
        if (this.#isOver || !this.options.isOutage(error)) throw error
        this.#requireTimeLeft(performance.now() - calledAt, error)
      }
      await pause(RETRY_INTERVAL_MS)
    }
  }

  /** Logs a line every 5 s, however many calls wait. */
  #requireTimeLeft(elapsedMs: number, error: unknown): void {
    const { store, warn } = this.options
    const reason = error instanceof Error ? error.message : String(error)
    const limit = TIMEOUT_MS / 1_000
    if (elapsedMs >= TIMEOUT_MS)
      throw new StoreUnavailable(`${store} did not respond for ${limit} s: ${reason}`, { cause: error, store })
    const noticeDue = performance.now() - this.#lastNoticeAt >= NOTICE_INTERVAL_MS
    if (elapsedMs < NOTICE_INTERVAL_MS || !noticeDue) return
    this.#lastNoticeAt = performance.now()
    const seconds = Math.floor(elapsedMs / NOTICE_INTERVAL_MS) * (NOTICE_INTERVAL_MS / 1_000)
    warn({ store, reason }, `${store} does not respond yet; waiting (${seconds} of ${limit} s)`)
  }
}
