import { retriesStream } from '../../domain/installation/retry.ts'
import type { Log } from '../../runtime/log.ts'
import type { EventStore } from '../../stores/ports/event-store.ts'
import type { Build, ReadStore } from '../../stores/ports/read-store.ts'
import { BatchWriter } from './batch-writer.ts'
import { isOfLog } from './checkpoint.ts'
import { follow } from './follow.ts'
import { neverAborted } from './loop.ts'
import type { Projection } from './read-model.ts'
import type { Kept, Run } from './runner.ts'

/** Keeps a read model in builds of the read store, each batch in one write with its checkpoint. */
export class ReadModelBuilds<Value> implements Kept {
  readonly name: string
  readonly prefixes: readonly string[]
  readonly lag: number

  constructor(
    private readonly projection: Projection<Value>,
    private readonly store: EventStore,
    private readonly reads: ReadStore,
    private readonly log: Log,
  ) {
    this.name = projection.declaration.name
    this.prefixes = [...projection.follows, retriesStream(this.name)]
    this.lag = projection.lag ?? 0
  }

  async begin(signal: AbortSignal): Promise<Run | undefined> {
    const build = await this.#openBuild(signal)
    return build && this.#runOn(build)
  }

  /**
   * The live build where it belongs to this log; else a new one, filled before it becomes the live one.
   * @returns undefined where it was stopped before that was filled
   */
  async #openBuild(signal: AbortSignal): Promise<Build | undefined> {
    const { declaration } = this.projection
    const live = await this.reads.live(declaration)
    const checkpoint = await live.checkpoint()
    if (checkpoint === undefined || (await isOfLog(this.store, checkpoint))) return live
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
      if (!(await this.#fill(build, signal))) return undefined
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

  /** @returns whether it has come to the head */
  async #fill(build: Build, signal: AbortSignal): Promise<boolean> {
    const run = await this.#runOn(build)
    let isFilled = false
    const take: Parameters<typeof follow>[2] = async (batch) => {
      await run.take(batch)
      isFilled = batch.caughtUp
      return isFilled ? 'over' : undefined
    }
    try {
      await follow(this.store, { from: run.from, prefixes: this.prefixes }, take, signal)
    } finally {
      await run.flush()
    }
    return isFilled
  }

  async #runOn(build: Build): Promise<Run> {
    const writer = await BatchWriter.open(this.projection, this.store, build, this.log)
    return { from: writer.written, take: (batch) => writer.write(batch), flush: () => writer.flush() }
  }
}
