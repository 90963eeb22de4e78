import type { AppLogger } from '../../runtime/logger.ts'
import {
  comparePositions,
  StoreUnavailable,
  type SubscriptionBatch,
  type EventStore,
  type PositionOrStart,
} from '../../stores/ports/event-store.ts'
import { ReadModelLost, type ReadModelBuild, type ReadStore } from '../../stores/ports/read-store.ts'
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

  constructor(
    private readonly projection: AnyProjection,
    private readonly store: EventStore,
    private readonly reads: ReadStore,
    private readonly log: AppLogger,
  ) {
    this.name = projection.declaration.name
    this.maxLagMs = projection.maxLagMs ?? 0
    this.rebuilder = new ReadModelRebuilder(projection, store, reads, log)
    this.prefixes = this.rebuilder.prefixes
  }

  /**
   * Only the holder of the model's lease may call this: the run writes to the live build and promotes a rebuilt one.
   */
  async beginRun(signal: AbortSignal): Promise<ConsumerRun | undefined> {
    const build = await this.#openBuild(signal)
    return build && new LiveBuildRun(this.rebuilder, await this.rebuilder.openForWriting(build), this.log)
  }

  /**
   * Returns the live build if it is intact and belongs to this log, otherwise a rebuilt one. If a rebuild has already
   * caught up, that one is promoted first: a promotion whose outcome is unknown is repeated before anything more is
   * written.
   * @returns undefined if stopped before the build had caught up
   */
  async #openBuild(signal: AbortSignal): Promise<ReadModelBuild | undefined> {
    const { declaration } = this.projection
    const live = await openLiveBuild(this.reads, declaration)
    const isUsable =
      live !== 'lost' && (live.checkpoint === undefined || (await isCheckpointOfLog(this.store, live.checkpoint)))
    const filledBuild = await this.rebuilder.findFilledBuild()
    const livePosition = isUsable ? (live.checkpoint?.position ?? 'start') : 'start'
    if (filledBuild !== undefined && (await this.rebuilder.catchUp(filledBuild, livePosition, signal))) {
      if (signal.aborted) return undefined
      await this.rebuilder.promote(filledBuild.build)
      return filledBuild.build
    }
    if (isUsable) return live.build
    const why = live === 'lost' ? 'was lost' : 'belongs to another event log or to a restored one'
    this.log.warn({ model: declaration.name }, `the read model ${why}: rebuilding it`)
    return this.rebuild(signal)
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

/** Milliseconds between two checks for a rebuilt build that waits to be promoted. */
const SWITCH_POLL_INTERVAL_MS = 1_000

/**
 * Folds into the live build, and promotes a build that another process has rebuilt. Only the writer of the live build
 * can do so without stale reads: it catches the new build up to everything that it has reported as projected, then
 * promotes it.
 */
class LiveBuildRun implements ConsumerRun {
  readonly from: PositionOrStart
  readonly #abortController = new AbortController()
  #target: WritableBuild
  #timer: NodeJS.Timeout | undefined
  /** Serializes batches and the promotion. */
  #queue: Promise<void> = Promise.resolve()
  /** Why a promotion failed whose outcome is unknown: no batch is written until it is repeated. */
  #promotionError: unknown

  constructor(
    private readonly rebuilder: ReadModelRebuilder,
    target: WritableBuild,
    private readonly log: AppLogger,
  ) {
    this.#target = target
    this.from = target.writer.position
    this.#scheduleCheck()
  }

  get signal(): AbortSignal {
    return this.#abortController.signal
  }

  handleBatch(batch: SubscriptionBatch): Promise<void> {
    return this.#enqueue(async () => {
      if (this.#promotionError !== undefined) throw this.#promotionError
      await this.#target.writer.write(batch)
    })
  }

  async flush(): Promise<void> {
    this.#abortController.abort()
    clearTimeout(this.#timer)
    await this.#enqueue(() => this.#target.writer.flush())
  }

  #enqueue(work: () => Promise<void>): Promise<void> {
    const result = this.#queue.then(work)
    // The caller gets the rejection; the next work does not.
    this.#queue = result.catch(() => undefined)
    return result
  }

  #scheduleCheck(): void {
    if (!this.#abortController.signal.aborted)
      this.#timer = setTimeout(() => void this.#checkForNextBuild(), SWITCH_POLL_INTERVAL_MS).unref()
  }

  /**
   * A failure of the other build does not stop the live one; the next check tries again. If the live one was lost, the
   * run ends.
   */
  async #checkForNextBuild(): Promise<void> {
    try {
      await this.#switchToNextBuild()
    } catch (error) {
      if (error instanceof ReadModelLost) this.#abortController.abort()
      const isTransient = error instanceof StoreUnavailable || this.#abortController.signal.aborted
      if (!isTransient)
        this.log.warn(
          { err: error, model: this.rebuilder.name },
          'a rebuilt read model could not be promoted; the live one stays',
        )
    }
    this.#scheduleCheck()
  }

  /** Catches up on most of the missing events while the live build continues, on the rest between two batches. */
  async #switchToNextBuild(): Promise<void> {
    const next = await this.rebuilder.findNextBuild(this.#target.build)
    if (next === undefined || next.build.id === this.#target.build.id) return
    const { signal } = this.#abortController
    if (!(await this.rebuilder.catchUp(next, this.#target.writer.position, signal))) return
    await this.#enqueue(async () => {
      const livePosition = this.#target.writer.position
      if (!(await this.rebuilder.catchUp(next, livePosition, signal))) return
      const checkpoint = await next.build.checkpoint()
      if (signal.aborted || comparePositions(checkpoint?.position ?? 'start', livePosition) < 0) return
      await this.#promote(next)
    })
  }

  async #promote(next: WritableBuild): Promise<void> {
    try {
      await this.rebuilder.promote(next.build)
      await this.#target.writer.flush()
      this.#target = next
      this.#promotionError = undefined
      this.log.info({ model: this.rebuilder.name, build: next.build.id }, 'promoted a rebuilt read model')
    } catch (error) {
      this.#promotionError = error
      throw error
    }
  }
}
