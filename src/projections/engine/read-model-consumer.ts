import type { AppLogger } from '../../runtime/logger.ts'
import {
  StoreUnavailable,
  type SubscriptionBatch,
  type EventStore,
  type PositionOrStart,
} from '../../stores/ports/event-store.ts'
import { ReadModelLost, type Checkpoint, type ReadModelBuild, type ReadStore } from '../../stores/ports/read-store.ts'
import { ReadModelRebuilder, type WritableBuild } from './read-model-rebuilder.ts'
import { isCheckpointOfLog, openLiveBuild } from './checkpoint.ts'
import { neverAborted } from './loop.ts'
import type { AnyProjection } from './read-model.ts'
import type { EventConsumer, ConsumerRun } from './runner.ts'

/** Projects events into the live build of a read model. Each batch is written together with its checkpoint. */
export class ReadModelConsumer implements EventConsumer {
  readonly name: string
  readonly prefixes: readonly string[]
  readonly maxLagMs: number
  readonly rebuilder: ReadModelRebuilder

  /** @param eventsPerTurn as of BatchWriter.open */
  constructor(
    private readonly projection: AnyProjection,
    private readonly store: EventStore,
    private readonly reads: ReadStore,
    private readonly log: AppLogger,
    eventsPerTurn?: number,
  ) {
    this.name = projection.declaration.name
    this.maxLagMs = projection.maxLagMs ?? 0
    this.rebuilder = new ReadModelRebuilder(projection, store, reads, log, eventsPerTurn)
    this.prefixes = this.rebuilder.prefixes
  }

  /**
   * Only the holder of the model's lease may call this: the run writes to the live build and promotes a rebuilt one.
   */
  async beginRun(signal: AbortSignal): Promise<ConsumerRun | undefined> {
    const build = await this.#openBuild(signal)
    return build && new LiveBuildRun(this.rebuilder, await this.rebuilder.openForWriting(build))
  }

  /**
   * Returns the live build if it is intact and belongs to this log, otherwise a new one with everything in the log. If a rebuild has
   * already caught up, that one is promoted first: a promotion whose outcome is unknown is repeated before anything more is written.
   * @returns undefined if stopped before the build had caught up
   */
  async #openBuild(signal: AbortSignal): Promise<ReadModelBuild | undefined> {
    const { declaration } = this.projection
    const live = await this.#openUsableLiveBuild()
    const filledBuild = await this.rebuilder.findFilledBuild()
    const livePosition = live?.checkpoint.position ?? 'start'
    const isCaughtUp = filledBuild !== undefined && (await this.rebuilder.catchUp(filledBuild, livePosition, signal))
    if (signal.aborted) return undefined
    if (isCaughtUp) {
      await this.rebuilder.promote(filledBuild.build)
      this.log.info({ model: declaration.name, build: filledBuild.build.id }, 'promoted a rebuilt read model')
      return filledBuild.build
    }
    return live?.build ?? this.rebuild(signal)
  }

  /** Undefined also if there has been none: requests then wait for a complete one. */
  async #openUsableLiveBuild(): Promise<{ build: ReadModelBuild; checkpoint: Checkpoint } | undefined> {
    const { declaration } = this.projection
    const model = await this.reads.model(declaration)
    const live = (await model.position()) === 'start' ? 'lost' : await openLiveBuild(this.reads, declaration)
    if (live === 'lost' || live.checkpoint === undefined) {
      this.log.debug({ model: declaration.name }, 'the read model does not exist: building it from the event log')
      return undefined
    }
    if (await isCheckpointOfLog(this.store, live.checkpoint)) return { ...live, checkpoint: live.checkpoint }
    this.log.warn(
      { model: declaration.name },
      'the read model belongs to another event log or to a restored one: rebuilding it',
    )
    return undefined
  }

  /**
   * Rebuilds the read model up to the head of the log, without downtime, and promotes the new build. A stopped rebuild
   * resumes with the next run; a partial model is never shown.
   * @returns the build, undefined if stopped
   */
  async rebuild(signal = neverAborted()): Promise<ReadModelBuild | undefined> {
    const build = await this.rebuilder.fill(signal)
    if (build !== undefined) await this.rebuilder.promote(build)
    return build
  }
}

/** Milliseconds between two checks for a build that replaces the live one. */
const BUILD_CHECK_INTERVAL_MS = 1_000

/**
 * Folds into the live build until another one replaces it: a build that another process has rebuilt, which the next run
 * promotes, or one that another process has promoted. Only the writer of the live build can promote without stale
 * reads: it first catches the new build up to everything that it has reported as projected.
 */
class LiveBuildRun implements ConsumerRun {
  readonly from: PositionOrStart
  readonly #abortController = new AbortController()
  #timer: NodeJS.Timeout | undefined

  constructor(
    private readonly rebuilder: ReadModelRebuilder,
    private readonly target: WritableBuild,
  ) {
    this.from = target.writer.position
    this.#scheduleCheck()
  }

  get signal(): AbortSignal {
    return this.#abortController.signal
  }

  async handleBatch(batch: SubscriptionBatch): Promise<void> {
    await this.target.writer.write(batch)
  }

  async flush(): Promise<void> {
    this.#abortController.abort()
    clearTimeout(this.#timer)
    await this.target.writer.flush()
  }

  #scheduleCheck(): void {
    if (!this.signal.aborted)
      this.#timer = setTimeout(() => void this.#endIfReplaced(), BUILD_CHECK_INTERVAL_MS).unref()
  }

  async #endIfReplaced(): Promise<void> {
    try {
      if (await this.rebuilder.isReplaced(this.target.build)) this.#abortController.abort()
    } catch (error) {
      const isTransient = error instanceof StoreUnavailable && !(error instanceof ReadModelLost)
      // The next run reports the error, or rebuilds what was lost.
      if (!isTransient) this.#abortController.abort()
    }
    this.#scheduleCheck()
  }
}
