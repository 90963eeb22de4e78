import type { Log } from '../../runtime/log.ts'
import type { EventStore } from '../../stores/ports/event-store.ts'
import type { Build, ReadStore } from '../../stores/ports/read-store.ts'
import { BuildFolding } from './build-folding.ts'
import { BuildsBeside } from './builds-beside.ts'
import { isOfLog } from './checkpoint.ts'
import { LiveRun } from './live-run.ts'
import { neverAborted } from './loop.ts'
import type { Projection } from './read-model.ts'
import type { Kept, Run } from './runner.ts'

/** Keeps a read model in builds of the read store, each batch in one write with its checkpoint. */
export class ReadModelBuilds<Value> implements Kept {
  readonly name: string
  readonly prefixes: readonly string[]
  readonly lag: number
  /** What is filled beside the live one. */
  readonly beside: BuildsBeside<Value>
  readonly #folding: BuildFolding<Value>

  constructor(
    private readonly projection: Projection<Value>,
    private readonly store: EventStore,
    private readonly reads: ReadStore,
    private readonly log: Log,
  ) {
    const { declaration } = projection
    this.name = declaration.name
    this.#folding = new BuildFolding(projection, store, log)
    this.prefixes = this.#folding.prefixes
    this.lag = projection.lag ?? 0
    this.beside = new BuildsBeside(declaration, store, reads, this.#folding, log)
  }

  /** Only whoever holds the model's lease: the run writes to the live build, and switches to one that was filled beside it. */
  async begin(signal: AbortSignal): Promise<Run | undefined> {
    const build = await this.#openBuild(signal)
    return build && new LiveRun(this.beside, await this.#folding.written(build), this.log)
  }

  /**
   * The live build where it belongs to this log; else a new one, filled before it becomes the live one. Where one was filled for
   * it, that one: a switch whose outcome is unknown is made again before anything more is written.
   * @returns undefined where it was stopped before that was filled
   */
  async #openBuild(signal: AbortSignal): Promise<Build | undefined> {
    const { declaration } = this.projection
    const live = await this.reads.live(declaration)
    const checkpoint = await live.checkpoint()
    const isOurs = checkpoint === undefined || (await isOfLog(this.store, checkpoint))
    const filled = await this.beside.filled()
    const reached = isOurs ? (checkpoint?.position ?? 'start') : 'start'
    if (filled !== undefined && (await this.beside.catchUp(filled, reached, signal))) {
      if (signal.aborted) return undefined
      await this.beside.promote(filled)
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
   * Fills a new build beside the live one up to the head of the log and switches to it; readers see no gap. One that was
   * stopped or failed before it had caught up is dropped: half of a model is never shown for the whole.
   * @returns the build, undefined where it was stopped
   */
  async rebuild(signal = neverAborted()): Promise<Build | undefined> {
    const { declaration } = this.projection
    const build = await this.reads.begin(declaration)
    let isLive = false
    try {
      if (!(await this.#folding.toHead(build, signal))) return undefined
      await this.reads.promote(declaration, build)
      isLive = true
      return build
    } finally {
      if (!isLive) await this.#drop(build)
    }
  }

  /** What could not be dropped is left over, and removed by the next opening or rebuild. */
  async #drop(build: Build): Promise<void> {
    try {
      await this.reads.drop(this.projection.declaration, build)
    } catch (error) {
      const found = { err: error, model: this.name, build: build.id }
      this.log.warn(found, 'a build that was given up could not be dropped; it is removed later')
    }
  }
}
