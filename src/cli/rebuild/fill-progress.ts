import type { From } from '../../stores/ports/event-store.ts'
import { shareOf, type StepProgress } from '../../maintenance/operation.ts'
import { progressBar } from '../progress-bar.ts'

/** How far models are that are filled together: as far as the slowest of them. */
export class FillProgress {
  readonly #bar: StepProgress
  readonly #shares = new Map<string, number>()
  #events = 0

  /** @param head where the log ends now; positions are no numbers of events on every engine, but grow as evenly */
  constructor(private readonly head: From) {
    this.#bar = progressBar('rebuilding', undefined, 'events')
  }

  told(model: string, events: number, position: From): void {
    this.#events += events
    this.#shares.set(model, shareOf(position, this.head))
    this.#bar.update(this.#events, Math.min(...this.#shares.values()))
  }

  end(): void {
    this.#bar.end()
  }
}
