import type { Log } from '../../runtime/log.ts'
import {
  comparePositions,
  StoreUnavailable,
  type Batch,
  type EventStore,
  type From,
} from '../../stores/ports/event-store.ts'
import type { Build, Filling, ReadStore } from '../../stores/ports/read-store.ts'
import { BatchWriter } from './batch-writer.ts'
import { isOfLog } from './checkpoint.ts'
import { follow, prefixesOf } from './follow.ts'
import type { AnyProjection } from './read-model.ts'

/** A build and who folds into it. */
export type Written = { readonly build: Build; readonly writer: BatchWriter }

/** Is told of the number of events of each batch, and where it ends. */
export type Told = (events: number, position: From) => void

/** The builds of a model that are filled beside its live one, as the read store records them. */
export class BuildsBeside {
  readonly name: string
  readonly prefixes: readonly string[]

  constructor(
    private readonly projection: AnyProjection,
    private readonly store: EventStore,
    private readonly reads: ReadStore,
    private readonly log: Log,
  ) {
    this.name = projection.declaration.name
    this.prefixes = prefixesOf(this.name, projection)
  }

  async written(build: Build): Promise<Written> {
    return { build, writer: await BatchWriter.open(this.projection, this.store, build, this.log) }
  }

  /**
   * Fills a build up to the head of the log as it is then, for whoever keeps the model to switch to it. What is recorded as
   * being filled is gone on with, whoever began it; what is stopped stays recorded, what can't be used is dropped.
   * @returns the build, undefined where it was stopped
   */
  async fill(signal: AbortSignal, told: Told = () => undefined): Promise<Build | undefined> {
    const found = await this.reads.filling(this.#declaration)
    const begun = found && (await this.#ours(found))
    if (begun !== undefined && found?.isFilled === true) return begun
    const build = begun ?? (await this.reads.beginFilling(this.#declaration))
    try {
      if (!(await this.#foldToHead(build, signal, told))) return undefined
      await this.reads.markFilled(this.#declaration, build)
      return build
    } catch (error) {
      if (signal.aborted) return undefined
      await this.#giveUp(build, error)
      throw error
    }
  }

  /**
   * The build that is to take the place of the live one: filled from this log, and waiting for the switch. One that can't be
   * used is dropped: the live one goes on, and the rebuild that waits for it hears of that.
   */
  async filled(): Promise<Written | undefined> {
    const found = await this.reads.filling(this.#declaration)
    if (found?.isFilled !== true) return undefined
    const build = await this.#ours(found)
    return build && this.#usable(build, () => this.written(build))
  }

  /** Likewise, or the live one, where another process has switched to that while it kept the model. */
  async next(current: Build): Promise<Written | undefined> {
    const filled = await this.filled()
    if (filled !== undefined) return filled
    if (await this.reads.isLive(this.#declaration, current)) return undefined
    return this.written(await this.reads.live(this.#declaration))
  }

  /** Folds into a build what lies before a position. @returns whether it can be used; else it was dropped */
  async catchUp({ build, writer }: Written, position: From, signal: AbortSignal): Promise<boolean> {
    const isThere = () => comparePositions(writer.written, position) >= 0
    const caughtUp = await this.#usable(build, async () => {
      if (isThere()) await writer.flush()
      else
        await this.#fold(writer, signal, isThere).catch((error: unknown) => {
          if (!signal.aborted) throw error
        })
      return true
    })
    return caughtUp === true
  }

  /** From here on it is the live one. */
  promote(build: Build): Promise<void> {
    return this.reads.promote(this.#declaration, build)
  }

  /** @returns whether it has come to the head, as it is then; not where it was stopped */
  async #foldToHead(build: Build, signal: AbortSignal, told: Told): Promise<boolean> {
    const { writer } = await this.written(build)
    let isFilled = false
    await this.#fold(writer, signal, ({ events, position, caughtUp }) => {
      told(events.length, position)
      isFilled = caughtUp
      return isFilled
    })
    return isFilled
  }

  /** @param isAll whether a batch that was written was the last to be */
  async #fold(writer: BatchWriter, signal: AbortSignal, isAll: (batch: Batch) => boolean): Promise<void> {
    const { prefixes, store } = this
    const take = async (batch: Batch) => {
      await writer.write(batch)
      return isAll(batch) ? ('over' as const) : undefined
    }
    try {
      await follow(store, { from: writer.written, prefixes }, take, signal)
    } finally {
      await writer.flush()
    }
  }

  /** What is recorded, where it can be used and is of this log. */
  #ours(found: Filling): Promise<Build | undefined> {
    return this.#usable(found, async () => {
      const build = await this.reads.openFilling(this.#declaration, found)
      const checkpoint = await build.checkpoint()
      return checkpoint === undefined || (await isOfLog(this.store, checkpoint)) ? build : undefined
    })
  }

  /** @returns undefined where that was for good: the build is dropped then. @throws what passes */
  async #usable<Answer>(build: Pick<Filling, 'id'>, use: () => Promise<Answer>): Promise<Answer | undefined> {
    try {
      return await use()
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error
      await this.#giveUp(build, error)
      return undefined
    }
  }

  /** What passes is tried again with the same build. What could not be dropped is left over, and removed later. */
  async #giveUp(build: Pick<Filling, 'id'>, error: unknown): Promise<void> {
    if (error instanceof StoreUnavailable) return
    const found = { err: error, model: this.name, build: build.id }
    this.log.warn(found, 'a build that was filled beside the live one can not be used, and is given up')
    await this.reads.drop(this.#declaration, build)
  }

  get #declaration() {
    return this.projection.declaration
  }
}
