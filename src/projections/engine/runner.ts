import { retriesStream } from '../../domain/installation/retry.ts'
import type { Log } from '../../runtime/log.ts'
import type { EventStore } from '../../stores/ports/event-store.ts'
import type { Build, ModelDeclaration, ReadStore } from '../../stores/ports/read-store.ts'
import { BatchWriter } from './batch-writer.ts'
import { belongs } from './belongs.ts'
import { KeptRunning, unstopped, type RunFigures } from './keep-trying.ts'
import { OwnProgress } from './progress.ts'
import type { Projection } from './projection.ts'

/**
 * Keeps one read model at the head of the log: one ordered subscription, in batches, each written once together with
 * its checkpoint. Runs in one process at a time; correctness rests on guarded writes, not on being alone.
 */
export class ProjectionRunner<Value> {
  readonly progress = new OwnProgress()
  readonly #running: KeptRunning

  constructor(
    readonly projection: Projection<Value>,
    private readonly store: EventStore,
    private readonly reads: ReadStore,
    private readonly log: Log,
  ) {
    this.#running = new KeptRunning(projection.declaration.name, log, async (signal) => {
      const build = await this.#openBuild(signal)
      if (build !== undefined) await this.#follow(build, signal)
    })
  }

  get declaration(): ModelDeclaration {
    return this.projection.declaration
  }

  /** Starts to run in the background; `progress` tells how far it is. */
  start(): void {
    this.#running.start()
  }

  get figures(): RunFigures {
    return this.#running.figures
  }

  /** Ends after the batch under way, or without it where that takes long. */
  async stop(): Promise<void> {
    const ended = this.#running.stop()
    this.progress.wake()
    await ended
  }

  /**
   * The live build where it belongs to this log; else a new one, filled before it becomes the live one.
   * @returns undefined where it was stopped before that was filled
   */
  async #openBuild(signal: AbortSignal): Promise<Build | undefined> {
    const { declaration } = this.projection
    const live = await this.reads.live(declaration)
    const checkpoint = await live.checkpoint()
    if (checkpoint === undefined || (await belongs(this.store, checkpoint))) return live
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
  async rebuild(signal = unstopped()): Promise<Build | undefined> {
    const { declaration } = this.projection
    const build = await this.reads.begin(declaration)
    let isLive = false
    try {
      if ((await this.#follow(build, signal, 'until caught up')) !== 'caught up') return undefined
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
      await this.reads.drop(this.declaration, build)
    } catch (error) {
      const found = { err: error, model: this.declaration.name, build: build.id }
      this.log.warn(found, 'a build that was given up could not be dropped; it is removed later')
    }
  }

  /** @returns 'caught up' where that was waited for, and came */
  async #follow(build: Build, signal: AbortSignal, until?: 'until caught up'): Promise<'caught up' | undefined> {
    const checkpoint = await build.checkpoint()
    const from = checkpoint?.position ?? 'start'
    const fold = await BatchWriter.open(this.projection, this.store, build, this.log)
    const retries = retriesStream(this.declaration.name)
    const subscription = this.store.subscribe(from, { prefixes: [...this.projection.prefixes, retries] })
    const stop = () => subscription.stop()
    signal.addEventListener('abort', stop, { once: true })
    if (until === undefined) this.progress.advance(from)
    try {
      signal.throwIfAborted()
      for await (const batch of subscription) {
        await fold.write(batch)
        if (until === undefined) this.progress.advance(batch.position)
        else if (batch.caughtUp) return 'caught up'
        if (signal.aborted) return undefined
        if (until === undefined && batch.caughtUp) await this.progress.unlessAwaited(this.projection.lag ?? 0)
      }
      return undefined
    } finally {
      subscription.stop()
      await fold.flush()
    }
  }
}
