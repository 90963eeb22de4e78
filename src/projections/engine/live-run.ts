import type { Log } from '../../runtime/log.ts'
import { comparePositions, StoreUnavailable, type Batch, type From } from '../../stores/ports/event-store.ts'
import type { Written } from './build-folding.ts'
import type { BuildsBeside } from './builds-beside.ts'
import type { Run } from './runner.ts'

/** Milliseconds between two looks at whether a build was filled beside the live one. */
const LOOK = 1_000

/**
 * Folds into the live build, and switches to one that another process has filled beside it. Only who writes the live one can
 * do so without a stale answer: what was told to be in the model is in the new build before it is the live one.
 */
export class LiveRun<Value> implements Run {
  readonly from: From
  readonly #ended = new AbortController()
  #written: Written<Value>
  #timer: NodeJS.Timeout | undefined
  /** Batches and the switch, one after another. */
  #turn: Promise<void> = Promise.resolve()
  /** What a switch came to whose outcome is unknown: nothing is written before it was made again. */
  #fault: unknown

  constructor(
    private readonly beside: BuildsBeside<Value>,
    written: Written<Value>,
    private readonly log: Log,
  ) {
    this.#written = written
    this.from = written.writer.written
    this.#lookLater()
  }

  take(batch: Batch): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#fault !== undefined) throw this.#fault
      await this.#written.writer.write(batch)
    })
  }

  async flush(): Promise<void> {
    this.#ended.abort()
    clearTimeout(this.#timer)
    await this.#inTurn(() => this.#written.writer.flush())
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#turn.then(work)
    // Whoever asked for this work hears of it; the next work does not.
    this.#turn = done.catch(() => undefined)
    return done
  }

  #lookLater(): void {
    if (!this.#ended.signal.aborted) this.#timer = setTimeout(() => void this.#look(), LOOK).unref()
  }

  /** Whatever is wrong with the other build, the live one goes on; it is tried again with the next look. */
  async #look(): Promise<void> {
    try {
      await this.#switch()
    } catch (error) {
      const isPassing = error instanceof StoreUnavailable || this.#ended.signal.aborted
      if (!isPassing)
        this.log.warn(
          { err: error, model: this.beside.name },
          'a build that was filled beside the live one could not be switched to',
        )
    }
    this.#lookLater()
  }

  /** The most of what is missing while the live one goes on, the rest between two batches. */
  async #switch(): Promise<void> {
    const next = await this.beside.next(this.#written.build)
    if (next === undefined || next.build.id === this.#written.build.id) return
    const { signal } = this.#ended
    if (!(await this.beside.catchUp(next, this.#written.writer.written, signal))) return
    await this.#inTurn(async () => {
      const reached = this.#written.writer.written
      if (!(await this.beside.catchUp(next, reached, signal))) return
      const checkpoint = await next.build.checkpoint()
      if (signal.aborted || comparePositions(checkpoint?.position ?? 'start', reached) < 0) return
      await this.#promote(next)
    })
  }

  async #promote(next: Written<Value>): Promise<void> {
    try {
      await this.beside.promote(next)
      await this.#written.writer.flush()
      this.#written = next
      this.#fault = undefined
      this.log.info({ model: this.beside.name, build: next.build.id }, 'switched to a build that was filled beside')
    } catch (error) {
      this.#fault = error
      throw error
    }
  }
}
