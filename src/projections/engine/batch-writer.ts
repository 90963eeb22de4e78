import { retriesStream } from '../../domain/installation/installation.ts'
import type { Log } from '../../runtime/log.ts'
import {
  comparePositions,
  type Batch,
  type EventStore,
  type From,
  type StoredEvent,
} from '../../stores/ports/event-store.ts'
import type { Build, Checkpoint, DeadLetter } from '../../stores/ports/read-store.ts'
import { CheckpointWriter } from './checkpoint-writer.ts'
import { lineOf, newestIn } from './checkpoint.ts'
import { foldBatch, type Folded } from './fold-batch.ts'
import type { Projection } from './read-model.ts'
import { refold, together } from './refold.ts'
import { retriedStreams } from './dead-letter.ts'

/** How far a batch leads, and the newest event that it names, if any. */
type End = Pick<Checkpoint, 'position' | 'event'>

type InOrder = NonNullable<Projection<unknown>['inOrder']>

/** Folds batches into one build, and folds again what an operator asks to be tried again. */
export class BatchWriter<Value> {
  readonly #checkpoints: CheckpointWriter
  readonly #retries: string
  #written: From
  /** The position of the last batch that wrote something: the stored checkpoint is never behind it. */
  #kept: From
  #event: Checkpoint['event']

  private constructor(
    private readonly projection: Projection<Value>,
    private readonly store: EventStore,
    private readonly build: Build,
    private readonly log: Log,
    private readonly known: {
      readonly line: string
      readonly checkpoint: Checkpoint | undefined
      readonly parked: Set<string>
    },
  ) {
    this.#checkpoints = new CheckpointWriter(build, store, log)
    this.#retries = retriesStream(projection.declaration.name)
    this.#written = known.checkpoint?.position ?? 'start'
    this.#kept = this.#written
    this.#event = known.checkpoint?.event ?? null
  }

  static async open<Value>(projection: Projection<Value>, store: EventStore, build: Build, log: Log) {
    const parked = new Set((await build.deadLetters()).map((letter) => letter.stream))
    const known = { line: await lineOf(store), checkpoint: await build.checkpoint(), parked }
    return new BatchWriter(projection, store, build, log, known)
  }

  /** How far the log is folded. */
  get written(): From {
    return this.#written
  }

  /** A batch may begin before where this build is: what another process filled was read in other batches. */
  async write({ events: read, position, last }: Batch): Promise<void> {
    if (comparePositions(position, this.#written) <= 0) return
    const events = this.#behind(read)
    const end = { position, event: newestIn({ events, ...(last && { last }) }) }
    if (this.projection.inOrder !== undefined) return this.#foldInOrder(this.projection.inOrder, events, end)
    let from = 0
    for (const [index, event] of events.entries()) {
      if (event.stream !== this.#retries) continue
      await this.#foldBefore(events.slice(from, index))
      await this.#retry(event)
      from = index + 1
    }
    await this.#fold(from === 0 ? events : events.slice(from), end)
  }

  #behind(events: readonly StoredEvent[]): readonly StoredEvent[] {
    const [first] = events
    if (first === undefined || comparePositions(first.position, this.#written) > 0) return events
    return events.filter((event) => comparePositions(event.position, this.#written) > 0)
  }

  async #foldInOrder(fold: InOrder, events: readonly StoredEvent[], end: End): Promise<void> {
    const writes = events.length === 0 ? [] : await fold(this.build, this.#kept, events)
    await this.#write({ writes, letters: [] }, end)
  }

  /** What of a batch lies before an event that is no part of it. */
  async #foldBefore(events: readonly StoredEvent[]): Promise<void> {
    const last = events.at(-1)
    if (last !== undefined) await this.#fold(events, { position: last.position, event: last })
  }

  async #fold(events: readonly StoredEvent[], end: End): Promise<void> {
    await this.#write(await foldBatch(this.projection, this.build, events, this.known.parked), end)
  }

  /** The letters go first: when this process ends before the rest is written, the request comes again. */
  async #retry(event: StoredEvent): Promise<void> {
    const streams = together(this.projection, retriedStreams(event, this.projection.follows, this.log))
    for (const stream of streams) {
      await this.build.release(stream)
      this.known.parked.delete(stream)
    }
    const refolded = await refold(this.projection, { store: this.store, build: this.build }, streams, event)
    await this.#write(refolded, { position: event.position, event })
  }

  async #write({ writes, letters }: Folded, { position, event }: End): Promise<void> {
    if (event !== null) this.#event = { id: event.id, position: event.position }
    const checkpoint = { position, log: this.known.line, event: this.#event }
    if (writes.length + letters.length > 0) {
      await this.#checkpoints.write(writes, checkpoint, letters)
      this.#kept = position
    } else this.#checkpoints.later(checkpoint)
    for (const letter of letters) this.#park(letter)
    this.#written = position
  }

  /** Told once a stream: the events behind it go the same way. */
  #park({ stream, event, type, reason }: DeadLetter): void {
    const { parked } = this.known
    if (parked.has(stream)) return
    parked.add(stream)
    const model = this.projection.declaration.name
    this.log.warn({ model, stream, event, type, reason }, 'an event could not be folded: its stream is set aside')
  }

  flush(): Promise<void> {
    return this.#checkpoints.flush()
  }
}
