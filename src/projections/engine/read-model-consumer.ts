import type { AppLogger } from '../../runtime/logger.ts'
import {
  comparePositions,
  StoreUnavailable,
  type SubscriptionBatch,
  type EventStore,
  type PositionOrStart,
} from '../../stores/ports/event-store.ts'
import type { ReadModelBuild, ReadStore } from '../../stores/ports/read-store.ts'
import { ReadModelRebuilder, type WritableBuild } from './read-model-rebuilder.ts'
import { isCheckpointOfLog } from './checkpoint.ts'
import { neverAborted } from './loop.ts'
import type { AnyProjection } from './read-model.ts'
import type { EventConsumer, ConsumerRun } from './runner.ts'

/** Keeps a read model in builds of the read store, each batch in one write with its checkpoint. */
export class ReadModelConsumer implements EventConsumer {
  readonly name: string
  readonly prefixes: readonly string[]
  readonly maxLagMs: number
  /** What is filled beside the live one. */
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

  /** Only whoever holds the model's lease: the run writes to the live build, and switches to one that was filled beside it. */
  async beginRun(signal: AbortSignal): Promise<ConsumerRun | undefined> {
    const build = await this.#openBuild(signal)
    return build && new LiveBuildRun(this.rebuilder, await this.rebuilder.openForWriting(build), this.log)
  }

  /**
   * The live build where it belongs to this log; else a new one, filled before it becomes the live one. Where one was filled for
   * it, that one: a switch whose outcome is unknown is made again before anything more is written.
   * @returns undefined where it was stopped before that was filled
   */
  async #openBuild(signal: AbortSignal): Promise<ReadModelBuild | undefined> {
    const { declaration } = this.projection
    const live = await this.reads.live(declaration)
    const checkpoint = await live.checkpoint()
    const isOurs = checkpoint === undefined || (await isCheckpointOfLog(this.store, checkpoint))
    const filled = await this.rebuilder.findFilledBuild()
    const reached = isOurs ? (checkpoint?.position ?? 'start') : 'start'
    if (filled !== undefined && (await this.rebuilder.catchUp(filled, reached, signal))) {
      if (signal.aborted) return undefined
      await this.rebuilder.promote(filled.build)
      return filled.build
    }
    if (isOurs) return live
    this.log.warn(
      { model: declaration.name },
      'the read model is of another log, or of one that was restored: rebuilding it',
    )
    return this.rebuild(signal)
  }

  /**
   * Fills a build beside the live one up to the head of the log and switches to it; readers see no gap. What is stopped before
   * that is resumed by the next run: half of a model is never shown for the whole.
   * @returns the build, undefined where it was stopped
   */
  async rebuild(signal = neverAborted()): Promise<ReadModelBuild | undefined> {
    const build = await this.rebuilder.fill(signal)
    if (build !== undefined) await this.rebuilder.promote(build)
    return build
  }
}

/** Milliseconds between two looks at whether a build was filled beside the live one. */
const SWITCH_POLL_INTERVAL_MS = 1_000

/**
 * Folds into the live build, and switches to one that another process has filled beside it. Only who writes the live one can
 * do so without a stale answer: what was told to be in the model is in the new build before it is the live one.
 */
class LiveBuildRun implements ConsumerRun {
  readonly from: PositionOrStart
  readonly #ended = new AbortController()
  #target: WritableBuild
  #timer: NodeJS.Timeout | undefined
  /** Batches and the switch, one after another. */
  #turn: Promise<void> = Promise.resolve()
  /** What a switch came to whose outcome is unknown: nothing is written before it was made again. */
  #fault: unknown

  constructor(
    private readonly rebuilder: ReadModelRebuilder,
    written: WritableBuild,
    private readonly log: AppLogger,
  ) {
    this.#target = written
    this.from = written.writer.position
    this.#lookLater()
  }

  handleBatch(batch: SubscriptionBatch): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#fault !== undefined) throw this.#fault
      await this.#target.writer.write(batch)
    })
  }

  async flush(): Promise<void> {
    this.#ended.abort()
    clearTimeout(this.#timer)
    await this.#inTurn(() => this.#target.writer.flush())
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#turn.then(work)
    // Whoever asked for this work hears of it; the next work does not.
    this.#turn = done.catch(() => undefined)
    return done
  }

  #lookLater(): void {
    if (!this.#ended.signal.aborted) this.#timer = setTimeout(() => void this.#look(), SWITCH_POLL_INTERVAL_MS).unref()
  }

  /** Whatever is wrong with the other build, the live one goes on; it is tried again with the next look. */
  async #look(): Promise<void> {
    try {
      await this.#switch()
    } catch (error) {
      const isPassing = error instanceof StoreUnavailable || this.#ended.signal.aborted
      if (!isPassing)
        this.log.warn(
          { err: error, model: this.rebuilder.name },
          'a build that was filled beside the live one could not be switched to',
        )
    }
    this.#lookLater()
  }

  /** The most of what is missing while the live one goes on, the rest between two batches. */
  async #switch(): Promise<void> {
    const next = await this.rebuilder.findNextBuild(this.#target.build)
    if (next === undefined || next.build.id === this.#target.build.id) return
    const { signal } = this.#ended
    if (!(await this.rebuilder.catchUp(next, this.#target.writer.position, signal))) return
    await this.#inTurn(async () => {
      const reached = this.#target.writer.position
      if (!(await this.rebuilder.catchUp(next, reached, signal))) return
      const checkpoint = await next.build.checkpoint()
      if (signal.aborted || comparePositions(checkpoint?.position ?? 'start', reached) < 0) return
      await this.#promote(next)
    })
  }

  async #promote(next: WritableBuild): Promise<void> {
    try {
      await this.rebuilder.promote(next.build)
      await this.#target.writer.flush()
      this.#target = next
      this.#fault = undefined
      this.log.info({ model: this.rebuilder.name, build: next.build.id }, 'switched to a build that was filled beside')
    } catch (error) {
      this.#fault = error
      throw error
    }
  }
}
