import { retriesStream } from '../../domain/installation/installation.ts'
import type { Log } from '../../runtime/log.ts'
import { comparePositions, type Batch, type EventStore, type From } from '../../stores/ports/event-store.ts'
import type { Build } from '../../stores/ports/read-store.ts'
import { BatchWriter } from './batch-writer.ts'
import { follow } from './follow.ts'
import type { Projection } from './read-model.ts'

/** A build and who folds into it. */
export type Written<Value> = { readonly build: Build; readonly writer: BatchWriter<Value> }

/** Is told of the number of events of each batch, and where it ends. */
export type Told = (events: number, position: From) => void

/** Folds the log into builds of one model that nobody follows the log for yet. */
export class BuildFolding<Value> {
  /** The streams that the model follows; its retries among them. */
  readonly prefixes: readonly string[]

  constructor(
    private readonly projection: Projection<Value>,
    private readonly store: EventStore,
    private readonly log: Log,
  ) {
    this.prefixes = [...projection.follows, retriesStream(projection.declaration.name)]
  }

  async written(build: Build): Promise<Written<Value>> {
    return { build, writer: await BatchWriter.open(this.projection, this.store, build, this.log) }
  }

  /** @returns whether it has come to the head, as it is then; not where it was stopped */
  async toHead(build: Build, signal: AbortSignal, told: Told = () => undefined): Promise<boolean> {
    const { writer } = await this.written(build)
    let isFilled = false
    await this.#fold(writer, signal, async (batch) => {
      await writer.write(batch)
      told(batch.events.length, batch.position)
      isFilled = batch.caughtUp
      return isFilled
    })
    return isFilled
  }

  /** Folds what lies before a position, unless it is stopped. */
  async upTo({ writer }: Written<Value>, position: From, signal: AbortSignal): Promise<void> {
    const isThere = () => comparePositions(writer.written, position) >= 0
    if (isThere()) return writer.flush()
    await this.#fold(writer, signal, async (batch) => {
      await writer.write(batch)
      return isThere()
    })
  }

  /** @param take answers whether that was all */
  async #fold(
    writer: BatchWriter<Value>,
    signal: AbortSignal,
    take: (batch: Batch) => Promise<boolean>,
  ): Promise<void> {
    const { prefixes, store } = this
    try {
      await follow(
        store,
        { from: writer.written, prefixes },
        async (batch) => ((await take(batch)) ? 'over' : undefined),
        signal,
      )
    } finally {
      await writer.flush()
    }
  }
}
