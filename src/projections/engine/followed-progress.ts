import { within } from '../../runtime/deadline.ts'
import type { From } from '../../stores/ports/event-store.ts'
import type { ReadModel } from '../../stores/ports/read-store.ts'
import { OwnProgress, type Progress } from './progress.ts'

/** Milliseconds between two looks at the checkpoint, while somebody waits. */
const INTERVAL = 5
/** Milliseconds that one look may take: a store that hangs must not make who waits wait longer than told. */
const LOOK = 400

/**
 * The progress of a model that another process writes: its checkpoint is looked at every few milliseconds, once for
 * all who wait, and not at all while nobody does.
 */
export class FollowedProgress implements Progress {
  readonly #seen = new OwnProgress()
  #waiting = 0
  #looking = false

  constructor(private readonly model: Pick<ReadModel, 'position'>) {}

  async reached(position: From, ms: number): Promise<boolean> {
    const until = performance.now() + ms
    this.#seen.advance(await this.#positionNow())
    const reached = this.#seen.reached(position, Math.max(0, until - performance.now()))
    if (!(reached instanceof Promise)) return reached
    this.#waiting++
    this.#schedule()
    try {
      return await reached
    } finally {
      this.#waiting--
    }
  }

  #schedule(): void {
    if (this.#looking) return
    this.#looking = true
    setTimeout(() => void this.#look(), INTERVAL)
  }

  async #look(): Promise<void> {
    this.#seen.advance(await this.#positionNow())
    this.#looking = false
    if (this.#waiting > 0) this.#schedule()
  }

  /** A store that is away or hangs is behind. */
  async #positionNow(): Promise<From> {
    try {
      const position = this.model.position()
      return position instanceof Promise ? await within(LOOK, position, () => 'start') : position
    } catch {
      // Whoever reads or writes the model is told.
      return 'start'
    }
  }
}
