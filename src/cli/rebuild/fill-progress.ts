import type { From } from '../../stores/ports/event-store.ts'
import { progressBar, type ProgressBar } from '../progress-bar.ts'

/** How far models are that are filled together: as far as the slowest of them. */
export class FillProgress {
  readonly #bar: ProgressBar
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

/** How much of the log lies before a position, 0 to 1. @param head where the log ends */
export function shareOf(position: From, head: From): number {
  if (head === 'start') return 1
  if (position === 'start') return 0
  return Math.min(1, Number(position.commit) / Number(head.commit))
}
