import { InterruptibleSleep } from '../../runtime/interruptible-sleep.ts'

/** Milliseconds: the first pause, doubled up to the longest. */
export type BackOffTiming = { readonly firstPauseMs: number; readonly longestPauseMs: number }

/** Exponential back-off until `reset`. */
export class BackOff {
  readonly #pause = new InterruptibleSleep()
  #next: number

  constructor(private readonly timing: BackOffTiming) {
    this.#next = timing.firstPauseMs
  }

  reset(): void {
    this.#next = this.timing.firstPauseMs
  }

  sleep(): Promise<void> {
    const ms = this.#next
    this.#next = Math.min(ms * 2, this.timing.longestPauseMs)
    return this.#pause.sleep(ms)
  }

  wake(): void {
    this.#pause.wake()
  }
}
