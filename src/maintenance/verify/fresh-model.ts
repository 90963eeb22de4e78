import { setTimeout as pause } from 'node:timers/promises'
import { BatchWriter } from '../../projections/engine/batch-writer.ts'
import { prefixesOf } from '../../projections/engine/follow.ts'
import type { AnyProjection } from '../../projections/engine/read-model.ts'
import type { Log } from '../../runtime/log.ts'
import {
  comparePositions,
  passesFilter,
  type EventStore,
  type From,
  type StoredEvent,
} from '../../stores/ports/event-store.ts'
import type { Build, ReadModel, ReadStore } from '../../stores/ports/read-store.ts'
import { everyEvent } from '../../events/every-event.ts'

/** Events that are folded and written together. */
const BATCH = 1_000
/** Looks for an event that a read model has folded and this process does not see yet. */
const LOOKS = 1_000

/** A read model folded anew, in a store that is thrown away, up to whatever position it is asked to be at. */
export class FreshModel {
  readonly #prefixes: readonly string[]
  #waiting: StoredEvent[] = []
  #position: From = 'start'

  private constructor(
    readonly projection: AnyProjection,
    readonly build: Build,
    readonly model: ReadModel,
    private readonly store: EventStore,
    private readonly writer: BatchWriter,
  ) {
    this.#prefixes = prefixesOf(projection.declaration.name, projection)
  }

  static async open(projection: AnyProjection, store: EventStore, scratch: ReadStore, log: Log): Promise<FreshModel> {
    const build = await scratch.live(projection.declaration)
    const model = await scratch.model(projection.declaration)
    return new FreshModel(projection, build, model, store, await BatchWriter.open(projection, store, build, log))
  }

  get position(): From {
    return this.#position
  }

  /** The next event of the log, of whatever stream. */
  async add(event: StoredEvent): Promise<void> {
    this.#position = event.position
    if (!passesFilter(event, { prefixes: this.#prefixes })) return
    this.#waiting.push(event)
    if (this.#waiting.length >= BATCH) await this.settle()
  }

  /** Folds what waits. */
  async settle(): Promise<void> {
    const events = this.#waiting
    this.#waiting = []
    if (events.length > 0) await this.writer.write({ events, position: this.#position, caughtUp: false })
  }

  /** Reads on, to this position and no further. One that it is past already changes nothing. */
  async foldTo(position: From): Promise<void> {
    if (comparePositions(this.#position, position) < 0) {
      // The embedded log looks for what other processes wrote once a turn of the event loop, the read models always.
      for (let look = 0; look < LOOKS && comparePositions(await this.store.head(), position) < 0; look++) await pause(1)
      // What is damaged was told when the log was gone through.
      for await (const event of everyEvent(this.store, this.#position, () => undefined)) {
        if (comparePositions(event.position, position) > 0) break
        await this.add(event)
      }
    }
    await this.settle()
  }

  /** Writes the checkpoint that waits. */
  async close(): Promise<void> {
    await this.writer.flush()
  }
}
