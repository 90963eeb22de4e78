import type { AppLogger } from '../../runtime/logger.ts'
import {
  comparePositions,
  StoreUnavailable,
  type SubscriptionBatch,
  type EventStore,
  type PositionOrStart,
} from '../../stores/ports/event-store.ts'
import type { ReadModelBuild, PendingBuild, ReadStore } from '../../stores/ports/read-store.ts'
import { BatchWriter } from './batch-writer.ts'
import { isCheckpointOfLog } from './checkpoint.ts'
import { consumeBatches, prefixesOf } from './consume-batches.ts'
import type { AnyProjection } from './read-model.ts'

/** A build and who folds into it. */
export type WritableBuild = { readonly build: ReadModelBuild; readonly writer: BatchWriter }

/** Is told of the number of events of each batch, and where it ends. */
export type RebuildProgressListener = (events: number, position: PositionOrStart) => void

/** The builds of a model that are filled beside its live one, as the read store records them. */
export class ReadModelRebuilder {
  readonly name: string
  readonly prefixes: readonly string[]

  constructor(
    private readonly projection: AnyProjection,
    private readonly store: EventStore,
    private readonly reads: ReadStore,
    private readonly log: AppLogger,
  ) {
    this.name = projection.declaration.name
    this.prefixes = prefixesOf(this.name, projection)
  }

  async openForWriting(build: ReadModelBuild): Promise<WritableBuild> {
    return { build, writer: await BatchWriter.open(this.projection, this.store, build, this.log) }
  }

  /**
   * Fills a build up to the head of the log as it is then, for whoever keeps the model to switch to it. What is recorded as
   * being filled is gone on with, whoever began it; what is stopped stays recorded, what can't be used is dropped.
   * @returns the build, undefined where it was stopped
   */
  async fill(
    signal: AbortSignal,
    told: RebuildProgressListener = () => undefined,
  ): Promise<ReadModelBuild | undefined> {
    const found = await this.reads.pendingBuild(this.#declaration)
    const begun = found && (await this.#openIfOfThisLog(found))
    if (begun !== undefined && found?.isCaughtUp === true) return begun
    const build = begun ?? (await this.reads.beginPendingBuild(this.#declaration))
    try {
      if (!(await this.#foldToHead(build, signal, told))) return undefined
      await this.reads.markCaughtUp(this.#declaration, build)
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
  async findFilledBuild(): Promise<WritableBuild | undefined> {
    const found = await this.reads.pendingBuild(this.#declaration)
    if (found?.isCaughtUp !== true) return undefined
    const build = await this.#openIfOfThisLog(found)
    return build && this.#dropIfUnusable(build, () => this.openForWriting(build))
  }

  /** Likewise, or the live one, where another process has switched to that while it kept the model. */
  async findNextBuild(current: ReadModelBuild): Promise<WritableBuild | undefined> {
    const filled = await this.findFilledBuild()
    if (filled !== undefined) return filled
    if (await this.reads.isLive(this.#declaration, current)) return undefined
    return this.openForWriting(await this.reads.live(this.#declaration))
  }

  /** Folds into a build what lies before a position. @returns whether it can be used; else it was dropped */
  async catchUp({ build, writer }: WritableBuild, position: PositionOrStart, signal: AbortSignal): Promise<boolean> {
    const isThere = () => comparePositions(writer.position, position) >= 0
    const caughtUp = await this.#dropIfUnusable(build, async () => {
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
  promote(build: ReadModelBuild): Promise<void> {
    return this.reads.promote(this.#declaration, build)
  }

  /** @returns whether it has come to the head, as it is then; not where it was stopped */
  async #foldToHead(build: ReadModelBuild, signal: AbortSignal, told: RebuildProgressListener): Promise<boolean> {
    const { writer } = await this.openForWriting(build)
    let isFilled = false
    await this.#fold(writer, signal, ({ events, position, caughtUp }) => {
      told(events.length, position)
      isFilled = caughtUp
      return isFilled
    })
    return isFilled
  }

  /** @param isAll whether a batch that was written was the last to be */
  async #fold(writer: BatchWriter, signal: AbortSignal, isAll: (batch: SubscriptionBatch) => boolean): Promise<void> {
    const { prefixes, store } = this
    const take = async (batch: SubscriptionBatch) => {
      await writer.write(batch)
      return isAll(batch) ? ('over' as const) : undefined
    }
    try {
      await consumeBatches(store, { from: writer.position, prefixes }, take, signal)
    } finally {
      await writer.flush()
    }
  }

  /** What is recorded, where it can be used and is of this log. */
  #openIfOfThisLog(found: PendingBuild): Promise<ReadModelBuild | undefined> {
    return this.#dropIfUnusable(found, async () => {
      const build = await this.reads.openPendingBuild(this.#declaration, found)
      const checkpoint = await build.checkpoint()
      return checkpoint === undefined || (await isCheckpointOfLog(this.store, checkpoint)) ? build : undefined
    })
  }

  /** @returns undefined where that was for good: the build is dropped then. @throws what passes */
  async #dropIfUnusable<Answer>(
    build: Pick<PendingBuild, 'id'>,
    use: () => Promise<Answer>,
  ): Promise<Answer | undefined> {
    try {
      return await use()
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error
      await this.#giveUp(build, error)
      return undefined
    }
  }

  /** What passes is tried again with the same build. What could not be dropped is left over, and removed later. */
  async #giveUp(build: Pick<PendingBuild, 'id'>, error: unknown): Promise<void> {
    if (error instanceof StoreUnavailable) return
    const found = { err: error, model: this.name, build: build.id }
    this.log.warn(found, 'a build that was filled beside the live one can not be used, and is given up')
    await this.reads.drop(this.#declaration, build)
  }

  get #declaration() {
    return this.projection.declaration
  }
}
