import { WakeablePause } from '../../runtime/wakeable-pause.ts'
import type { Timing } from './timing.ts'

/** The pauses between tries: each longer than the one before, until something went well. */
export class Rest {
  readonly #pause = new WakeablePause()
  #next: number

  constructor(private readonly timing: Pick<Timing, 'firstPause' | 'longestPause'>) {
    this.#next = timing.firstPause
  }

  /** Begins again with the first pause. */
  short(): void {
    this.#next = this.timing.firstPause
  }

  sleep(): Promise<void> {
    const ms = this.#next
    this.#next = Math.min(ms * 2, this.timing.longestPause)
    return this.#pause.sleep(ms)
  }

  /** Ends the pause under way. */
  wake(): void {
    this.#pause.wake()
  }
}
