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

export type WritableBuild = { readonly build: ReadModelBuild; readonly writer: BatchWriter }

export type RebuildProgressListener = (events: number, position: PositionOrStart) => void

/** Rebuilds a read model in a new build while the live one stays in use; the read store records the pending build. */
export class ReadModelRebuilder {
  readonly name: string
  readonly prefixes: readonly string[]

  constructor(
    private readonly projection: AnyProjection,
    private readonly store: EventStore,
    private readonly reads: ReadStore,
    private readonly log: AppLogger,
    private readonly eventsPerTurn?: number,
  ) {
    this.name = projection.declaration.name
    this.prefixes = prefixesOf(this.name, projection)
  }

  async openForWriting(build: ReadModelBuild): Promise<WritableBuild> {
    return { build, writer: await BatchWriter.open(this.projection, this.store, build, this.log, this.eventsPerTurn) }
  }

  /**
   * Fills a build up to the head of the log, ready for the projecting process to promote. Resumes a pending build if
   * there is one. A stopped build stays pending; an unusable one is dropped.
   * @returns the build, undefined if stopped
   */
  async fill(
    signal: AbortSignal,
    onProgress: RebuildProgressListener = () => undefined,
  ): Promise<ReadModelBuild | undefined> {
    const pendingBuild = await this.reads.pendingBuild(this.#declaration)
    const resumedBuild = pendingBuild && (await this.#openIfOfThisLog(pendingBuild))
    if (resumedBuild !== undefined && pendingBuild?.isCaughtUp === true) return resumedBuild
    const build = resumedBuild ?? (await this.reads.beginPendingBuild(this.#declaration))
    try {
      if (!(await this.#foldToHead(build, signal, onProgress))) return undefined
      await this.reads.markCaughtUp(this.#declaration, build)
      return build
    } catch (error) {
      if (signal.aborted) return undefined
      await this.#dropUnusable(build, error)
      throw error
    }
  }

  /**
   * The caught-up build of this log that waits to be promoted. An unusable one is dropped; the live one stays, and the
   * waiting rebuild fails.
   */
  async findFilledBuild(): Promise<WritableBuild | undefined> {
    const pendingBuild = await this.reads.pendingBuild(this.#declaration)
    if (pendingBuild?.isCaughtUp !== true) return undefined
    const build = await this.#openIfOfThisLog(pendingBuild)
    return build && this.#dropIfUnusable(build, () => this.openForWriting(build))
  }

  /** Whether the next run writes another build: a filled one waits to be promoted, or another process has promoted one. */
  async isReplaced(live: ReadModelBuild): Promise<boolean> {
    return (await this.findFilledBuild()) !== undefined || !(await this.reads.isLive(this.#declaration, live))
  }

  /**
   * Folds events into a build up to a position.
   * @returns whether its stored checkpoint has reached it; false if stopped, or if the build was unusable and dropped
   */
  async catchUp({ build, writer }: WritableBuild, position: PositionOrStart, signal: AbortSignal): Promise<boolean> {
    const hasReached = (reached: PositionOrStart = 'start') => comparePositions(reached, position) >= 0
    const caughtUp = await this.#dropIfUnusable(build, async () => {
      if (!hasReached(writer.position))
        await this.#fold(writer, signal, () => hasReached(writer.position)).catch((error: unknown) => {
          if (!signal.aborted) throw error
        })
      await writer.flush()
      return hasReached((await build.checkpoint())?.position)
    })
    return caughtUp === true
  }

  promote(build: ReadModelBuild): Promise<void> {
    return this.reads.promote(this.#declaration, build)
  }

  /** @returns whether it reached the head; false if stopped */
  async #foldToHead(build: ReadModelBuild, signal: AbortSignal, onProgress: RebuildProgressListener): Promise<boolean> {
    const { writer } = await this.openForWriting(build)
    let isFilled = false
    await this.#fold(writer, signal, ({ events, position, caughtUp }) => {
      onProgress(events.length, position)
      isFilled = caughtUp
      return isFilled
    })
    return isFilled
  }

  /** @param isLast whether a batch was the last one to fold */
  async #fold(writer: BatchWriter, signal: AbortSignal, isLast: (batch: SubscriptionBatch) => boolean): Promise<void> {
    const { prefixes, store } = this
    const take = async (batch: SubscriptionBatch) => {
      await writer.write(batch)
      return isLast(batch) ? ('over' as const) : undefined
    }
    try {
      await consumeBatches(store, { from: writer.position, prefixes }, take, signal)
    } finally {
      await writer.flush()
    }
  }

  /** Opens the pending build if it is usable and belongs to this log, otherwise drops it. */
  #openIfOfThisLog(pendingBuild: PendingBuild): Promise<ReadModelBuild | undefined> {
    return this.#dropIfUnusable(pendingBuild, async () => {
      const build = await this.reads.openPendingBuild(this.#declaration, pendingBuild)
      const checkpoint = await build.checkpoint()
      return checkpoint === undefined || (await isCheckpointOfLog(this.store, checkpoint)) ? build : undefined
    })
  }

  /**
   * @returns undefined if the build is unusable: it is dropped then. @throws StoreUnavailable, which leaves the build
   * for a retry
   */
  async #dropIfUnusable<Result>(
    build: Pick<PendingBuild, 'id'>,
    use: () => Promise<Result>,
  ): Promise<Result | undefined> {
    try {
      return await use()
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error
      await this.#dropUnusable(build, error)
      return undefined
    }
  }

  /** A build that can't be dropped now becomes a leftover, which is removed later. */
  async #dropUnusable(build: Pick<PendingBuild, 'id'>, error: unknown): Promise<void> {
    if (error instanceof StoreUnavailable) return
    const details = { err: error, model: this.name, build: build.id }
    this.log.warn(details, 'a rebuilt read model cannot be used: dropping it')
    await this.reads.drop(this.#declaration, build)
  }

  get #declaration() {
    return this.projection.declaration
  }
}
