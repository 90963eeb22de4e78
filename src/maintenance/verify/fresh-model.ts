import { setTimeout as pause } from 'node:timers/promises'
import { BatchWriter } from '../../projections/engine/batch-writer.ts'
import { prefixesOf } from '../../projections/engine/consume-batches.ts'
import type { AnyProjection } from '../../projections/engine/read-model.ts'
import type { AppLogger } from '../../runtime/logger.ts'
import {
  comparePositions,
  passesFilter,
  type EventStore,
  type PositionOrStart,
  type StoredEvent,
} from '../../stores/ports/event-store.ts'
import type { ReadModelBuild, ReadModel, ReadStore } from '../../stores/ports/read-store.ts'
import { readEveryEvent } from '../../events/read-every-event.ts'

/** Events that are folded and written together. */
const BATCH_SIZE = 1_000
/** Polls for an event that a read model has folded but this process does not see yet. */
const MAX_HEAD_POLLS = 1_000

/** Folds a read model from the start of the log into a temporary store, up to any position. */
export class FreshModel {
  readonly #prefixes: readonly string[]
  #pending: StoredEvent[] = []
  #position: PositionOrStart = 'start'

  private constructor(
    readonly projection: AnyProjection,
    readonly build: ReadModelBuild,
    readonly model: ReadModel,
    private readonly store: EventStore,
    private readonly writer: BatchWriter,
  ) {
    this.#prefixes = prefixesOf(projection.declaration.name, projection)
  }

  static async open(
    projection: AnyProjection,
    store: EventStore,
    scratch: ReadStore,
    log: AppLogger,
  ): Promise<FreshModel> {
    const build = await scratch.live(projection.declaration)
    const model = await scratch.model(projection.declaration)
    return new FreshModel(projection, build, model, store, await BatchWriter.open(projection, store, build, log))
  }

  get position(): PositionOrStart {
    return this.#position
  }

  /** Adds the next event of the log, of any stream. */
  async add(event: StoredEvent): Promise<void> {
    this.#position = event.position
    if (!passesFilter(event, { prefixes: this.#prefixes })) return
    this.#pending.push(event)
    if (this.#pending.length >= BATCH_SIZE) await this.foldPending()
  }

  /** Folds buffered events. */
  async foldPending(): Promise<void> {
    const events = this.#pending
    this.#pending = []
    if (events.length > 0) await this.writer.write({ events, position: this.#position, caughtUp: false })
  }

  /** Folds the log up to this position; does nothing if it is already past it. */
  async foldTo(position: PositionOrStart): Promise<void> {
    if (comparePositions(this.#position, position) < 0) {
      // The embedded log looks for other processes' events only once per turn of the event loop, the read models at every read.
      for (let poll = 0; poll < MAX_HEAD_POLLS && comparePositions(await this.store.head(), position) < 0; poll++)
        await pause(1)
      // Damaged events have been reported when the whole log was read.
      for await (const event of readEveryEvent(this.store, this.#position, () => undefined)) {
        if (comparePositions(event.position, position) > 0) break
        await this.add(event)
      }
    }
    await this.foldPending()
  }

  /** Writes the pending checkpoint. */
  async close(): Promise<void> {
    await this.writer.flush()
  }
}
