import { retriesStream } from '../domain/retry.ts'
import type { Log } from '../log.ts'
import type { EventStore, Subscription } from '../stores/event-store.ts'
import type { Build, ModelDeclaration, ReadStore } from '../stores/read-store.ts'
import { BatchWriter } from './batch-writer.ts'
import { belongs } from './belongs.ts'
import { KeptRunning } from './keep-trying.ts'
import { OwnProgress } from './progress.ts'
import type { Projection } from './projection.ts'

/**
 * Keeps one read model at the head of the log: one ordered subscription, in batches, each written once together with
 * its checkpoint. Runs in one process at a time; correctness rests on guarded writes, not on being alone.
 */
export class ProjectionRunner<Value> {
  readonly progress = new OwnProgress()
  readonly #running: KeptRunning
  #subscription: Subscription | undefined

  constructor(
    readonly projection: Projection<Value>,
    private readonly store: EventStore,
    private readonly reads: ReadStore,
    private readonly log: Log,
  ) {
    this.#running = new KeptRunning(projection.declaration.name, log, async () => this.#follow(await this.#openBuild()))
  }

  get declaration(): ModelDeclaration {
    return this.projection.declaration
  }

  /** Starts to run in the background; `progress` tells how far it is. */
  start(): void {
    this.#running.start()
  }

  /** Ends after the batch under way. */
  async stop(): Promise<void> {
    this.#subscription?.stop()
    const ended = this.#running.stop()
    this.progress.wake()
    await ended
  }

  /** The live build where it belongs to this log; else a new one, filled before it becomes the live one. */
  async #openBuild(): Promise<Build> {
    const { declaration } = this.projection
    const live = await this.reads.live(declaration)
    const checkpoint = await live.checkpoint()
    if (checkpoint === undefined || (await belongs(this.store, checkpoint))) return live
    this.log.warn(
      { model: declaration.name },
      'the read model is of another log, or of one that was restored: rebuilding it',
    )
    return this.rebuild()
  }

  /** Fills a new build beside the live one up to the head of the log and switches to it; readers see no gap. */
  async rebuild(): Promise<Build> {
    const { declaration } = this.projection
    const build = await this.reads.begin(declaration)
    await this.#follow(build, 'until caught up')
    await this.reads.promote(declaration, build)
    return build
  }

  async #follow(build: Build, until?: 'until caught up'): Promise<void> {
    const checkpoint = await build.checkpoint()
    const from = checkpoint?.position ?? 'start'
    const fold = await BatchWriter.open(this.projection, this.store, build, this.log)
    const retries = retriesStream(this.declaration.name)
    const subscription = this.store.subscribe(from, { prefixes: [...this.projection.prefixes, retries] })
    this.#subscription = subscription
    if (until === undefined) this.progress.advance(from)
    try {
      for await (const batch of subscription) {
        await fold.write(batch)
        if (until === undefined) this.progress.advance(batch.position)
        else if (batch.caughtUp) return
        if (this.#running.stopped) return
        if (until === undefined && batch.caughtUp) await this.progress.unlessAwaited(this.projection.lag ?? 0)
      }
    } finally {
      subscription.stop()
      await fold.flush()
    }
  }
}
