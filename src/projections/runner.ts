import type { Log } from '../log.ts'
import { comparePositions, type Batch, type EventStore, type From, type Subscription } from '../stores/event-store.ts'
import type { Build, Checkpoint, ModelDeclaration, ReadStore } from '../stores/read-store.ts'
import { belongs } from './belongs.ts'
import { CheckpointWriter } from './checkpoint-writer.ts'
import { foldBatch } from './fold-batch.ts'
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
    await this.#running.stop()
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
    const fold = await BatchWriter.open(this.projection, build, await this.store.identity(), this.log)
    const subscription = this.store.subscribe(from, { prefixes: this.projection.prefixes })
    this.#subscription = subscription
    if (until === undefined) this.progress.advance(from)
    try {
      for await (const batch of subscription) {
        await fold.write(batch)
        if (until === undefined) this.progress.advance(batch.position)
        else if (batch.caughtUp) return
        if (this.#running.stopped) return
      }
    } finally {
      subscription.stop()
      await fold.flush()
    }
  }
}

/** Folds batches into one build. */
class BatchWriter<Value> {
  readonly #checkpoints: CheckpointWriter
  #written: From
  #event: Checkpoint['event']
  #parked: Set<string>

  private constructor(
    private readonly projection: Projection<Value>,
    private readonly build: Build,
    private readonly identity: string,
    checkpoint: Checkpoint | undefined,
    { log, parked }: { readonly log: Log; readonly parked: Set<string> },
  ) {
    this.#checkpoints = new CheckpointWriter(build, log)
    this.#written = checkpoint?.position ?? 'start'
    this.#event = checkpoint?.event ?? null
    this.#parked = parked
  }

  static async open<Value>(projection: Projection<Value>, build: Build, identity: string, log: Log) {
    const parked = new Set((await build.deadLetters()).map((letter) => letter.stream))
    return new BatchWriter(projection, build, identity, await build.checkpoint(), { log, parked })
  }

  async write(batch: Batch): Promise<void> {
    if (comparePositions(batch.position, this.#written) <= 0) return
    const { writes, letters } = await foldBatch(this.projection, this.build, batch.events, this.#parked)
    const last = batch.events.at(-1)
    if (last !== undefined) this.#event = { id: last.id, position: last.position }
    const checkpoint = { position: batch.position, log: this.identity, event: this.#event }
    if (writes.length + letters.length > 0) await this.#checkpoints.write(writes, checkpoint, letters)
    else this.#checkpoints.later(checkpoint)
    for (const letter of letters) this.#parked.add(letter.stream)
    this.#written = batch.position
  }

  flush(): Promise<void> {
    return this.#checkpoints.flush()
  }
}
