import { waitForTurn } from '../../runtime/event-loop.ts'
import type { AppLogger } from '../../runtime/logger.ts'
import {
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
    return build && new LiveBuildRun(this.rebuilder, await this.rebuilder.openForWriting(build))
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
    const isCaughtUp = filledBuild !== undefined && (await this.rebuilder.catchUp(filledBuild, livePosition, signal))
    if (signal.aborted) return undefined
    if (isCaughtUp) {
      await this.rebuilder.promote(filledBuild.build)
      this.log.info({ model: declaration.name, build: filledBuild.build.id }, 'promoted a rebuilt read model')
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

/** Events folded and written in one turn of the event loop: some milliseconds. */
const PART_EVENTS = 100

function* partsOf(batch: SubscriptionBatch): Generator<SubscriptionBatch> {
  const { events } = batch
  let from = 0
  for (; events.length - from > PART_EVENTS; from += PART_EVENTS) {
    const part = events.slice(from, from + PART_EVENTS)
    yield { events: part, position: part.at(-1)?.position ?? batch.position, caughtUp: false }
  }
  yield from === 0 ? batch : { ...batch, events: events.slice(from) }
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

  /** A large batch in parts, so that requests wait for one part at a time. */
  async handleBatch(batch: SubscriptionBatch): Promise<void> {
    for (const part of partsOf(batch)) {
      if (part !== batch) await waitForTurn()
      await this.target.writer.write(part)
    }
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
