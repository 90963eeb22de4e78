import { logLineage } from '../../events/lineage.ts'
import { waitForTurn } from '../../runtime/event-loop.ts'
import { retriesStream } from '../../domain/installation/installation.ts'
import type { AppLogger } from '../../runtime/logger.ts'
import {
  comparePositions,
  type SubscriptionBatch,
  type EventStore,
  type PositionOrStart,
  type StoredEvent,
} from '../../stores/ports/event-store.ts'
import type {
  ReadModelBuild,
  Checkpoint,
  DeadLetter,
  Document,
  FieldValue,
  DocumentWrite,
} from '../../stores/ports/read-store.ts'
import { CheckpointWriter, newestEventOf } from './checkpoint.ts'
import { EventNumberer } from './account-sequence.ts'
import { foldFromStart, foldBatch, type BatchFoldResult, type FoldSource } from './fold-batch.ts'
import { withRelatedStreams, type AnyProjection, type LogProjection, type Projection } from './read-model.ts'
import { streamsToRetry } from './dead-letter.ts'

type BatchEnd = Pick<Checkpoint, 'position' | 'event'>

function* partsOf(batch: SubscriptionBatch, size: number): Generator<SubscriptionBatch> {
  const { events } = batch
  let from = 0
  for (; events.length - from > size; from += size) {
    const part = events.slice(from, from + size)
    yield { events: part, position: part.at(-1)?.position ?? batch.position, caughtUp: false }
  }
  yield from === 0 ? batch : { ...batch, events: events.slice(from) }
}

/** Folds batches into one build, and folds streams again that an operator wants retried. */
export class BatchWriter {
  readonly #checkpoints: CheckpointWriter
  #position: PositionOrStart
  /** The position of the last batch that changed anything, or of the first; the stored checkpoint is never before it. */
  #storedPosition: PositionOrStart
  #event: Checkpoint['event']

  private constructor(
    private readonly projection: AnyProjection,
    private readonly store: EventStore,
    private readonly build: ReadModelBuild,
    private readonly log: AppLogger,
    private readonly state: {
      readonly lineage: string
      readonly checkpoint: Checkpoint | undefined
      readonly parked: Set<string>
      readonly eventsPerTurn: number
    },
  ) {
    this.#checkpoints = new CheckpointWriter(build, store, log)
    this.#position = state.checkpoint?.position ?? 'start'
    this.#storedPosition = this.#position
    this.#event = state.checkpoint?.event ?? null
  }

  /** @param eventsPerTurn at most so many events of a batch are folded and written in one turn of the event loop */
  static async open(
    projection: AnyProjection,
    store: EventStore,
    build: ReadModelBuild,
    log: AppLogger,
    eventsPerTurn = Infinity,
  ) {
    const parked = new Set((await build.deadLetters()).map((deadLetter) => deadLetter.stream))
    const state = { lineage: await logLineage(store), checkpoint: await build.checkpoint(), parked, eventsPerTurn }
    return new BatchWriter(projection, store, build, log, state)
  }

  get position(): PositionOrStart {
    return this.#position
  }

  /**
   * A batch may begin before this build's position: the process that filled the build read other batches.
   */
  async write(batch: SubscriptionBatch): Promise<void> {
    for (const part of partsOf(batch, this.state.eventsPerTurn)) {
      if (part !== batch) await waitForTurn()
      await this.#writePart(part)
    }
  }

  async #writePart({ events: batchEvents, position, last }: SubscriptionBatch): Promise<void> {
    if (comparePositions(position, this.#position) <= 0) return
    const events = this.#eventsAfterPosition(batchEvents)
    const end = { position, event: newestEventOf({ events, ...(last && { last }) }) }
    const { projection } = this
    if ('fold' in projection) return this.#write(await this.#foldLog(projection, events), end)
    const retryStream = retriesStream(projection.declaration.name)
    let from = 0
    for (const [index, event] of events.entries()) {
      if (event.stream !== retryStream) continue
      await this.#foldBefore(projection, events.slice(from, index))
      await this.#retry(projection, event)
      from = index + 1
    }
    await this.#fold(projection, from === 0 ? events : events.slice(from), end)
  }

  #eventsAfterPosition(events: readonly StoredEvent[]): readonly StoredEvent[] {
    const [first] = events
    if (first === undefined || comparePositions(first.position, this.#position) > 0) return events
    return events.filter((event) => comparePositions(event.position, this.#position) > 0)
  }

  async #foldLog(projection: LogProjection, events: readonly StoredEvent[]): Promise<BatchFoldResult> {
    const writes = events.length === 0 ? [] : await projection.fold(this.build, this.#storedPosition, events)
    return { writes, deadLetters: [], sequences: [] }
  }

  async #foldBefore(projection: Projection<unknown>, events: readonly StoredEvent[]): Promise<void> {
    const last = events.at(-1)
    if (last !== undefined) await this.#fold(projection, events, { position: last.position, event: last })
  }

  async #fold(projection: Projection<unknown>, events: readonly StoredEvent[], end: BatchEnd): Promise<void> {
    await this.#write(await foldBatch(projection, this.build, events, this.state.parked), end)
  }

  /** Deletes the dead letters first: if this process ends midway, the retry request is delivered again. */
  async #retry(projection: Projection<unknown>, event: StoredEvent): Promise<void> {
    const streams = withRelatedStreams(projection, streamsToRetry(event, projection.streamPrefixes, this.log))
    for (const stream of streams) {
      await this.build.unpark(stream)
      this.state.parked.delete(stream)
    }
    const result = await refold(projection, { store: this.store, build: this.build }, streams, event)
    await this.#write(result, { position: event.position, event })
  }

  async #write({ writes, deadLetters, sequences }: BatchFoldResult, { position, event }: BatchEnd): Promise<void> {
    if (event !== null) this.#event = { id: event.id, position: event.position }
    const checkpoint = { position, log: this.state.lineage, event: this.#event }
    // The first checkpoint of a build shows other processes that it belongs to this log.
    if (writes.length + deadLetters.length + sequences.length > 0 || this.#storedPosition === 'start') {
      await this.#checkpoints.write(writes, checkpoint, deadLetters, sequences)
      this.#storedPosition = position
    } else this.#checkpoints.schedule(checkpoint)
    for (const deadLetter of deadLetters) this.#park(deadLetter)
    this.#position = position
  }

  /** Logs only the first event of a stream; the stream's later events are parked too. */
  #park({ stream, event, type, reason }: DeadLetter): void {
    const { parked } = this.state
    if (parked.has(stream)) return
    parked.add(stream)
    const model = this.projection.declaration.name
    this.log.warn({ model, stream, event, type, reason }, 'an event could not be folded: its stream is parked')
  }

  flush(): Promise<void> {
    return this.#checkpoints.flush()
  }
}

/**
 * Folds streams from their start up to a retry request, since documents of parked streams are out of date. With
 * numbering, the request counts as one event of each rebuilt document.
 * @param streams including all related streams
 * @returns writes that replace everything written before the request, and dead letters for events that still fail
 */
async function refold<Value>(
  projection: Projection<Value>,
  { store, build }: { readonly store: EventStore; readonly build: FoldSource },
  streams: readonly string[],
  request: StoredEvent,
): Promise<BatchFoldResult> {
  const until = request.position
  const streamEvents = await Promise.all(streams.map((stream) => store.readStream(stream)))
  const events = streamEvents
    .flat()
    .filter(({ position }) => comparePositions(position, until) <= 0)
    .sort((a, b) => comparePositions(a.position, b.position))
  const { writes, deadLetters } = await foldFromStart(projection, events)
  const keys = new Set(events.map((event) => keyOrNone(projection, event)).filter((key) => key !== undefined))
  const replacements = [...replacementWrites(writes, keys, until.commit)]
  return { deadLetters, ...(await renumberWrites(projection, build, replacements, request)) }
}

async function renumberWrites<Value>(
  { numbering }: Projection<Value>,
  build: FoldSource,
  writes: readonly DocumentWrite[],
  request: StoredEvent,
): Promise<Pick<BatchFoldResult, 'writes' | 'sequences'>> {
  if (numbering === undefined) return { writes, sequences: [] }
  const documents = writes.flatMap((write) => ('put' in write ? [write.put] : []))
  const accounts = new Set(documents.map((document) => numbering.accountOf(document)))
  const numberer = await EventNumberer.load(build.sequences, [request], accounts)
  if (numberer === undefined) return { writes, sequences: [] }
  const stored = await build.load(documents.map(({ id = '' }) => id))
  const storedDocuments = new Map(stored.map(({ document }) => [document['id'], document]))
  const renumber = (put: Document): Document =>
    numbering.renumberDocument(
      put,
      storedDocuments.get(put['id']),
      numberer.nextNumber(numbering.accountOf(put), request),
    )
  const renumberedWrites = writes.map((write) => ('put' in write ? { ...write, put: renumber(write.put) } : write))
  return { writes: renumberedWrites, sequences: numberer.writes() }
}

/** An event whose document can't be determined has created none. */
function keyOrNone<Value>(projection: Projection<Value>, event: StoredEvent): FieldValue | undefined {
  try {
    return projection.keyOf(event)
  } catch {
    return undefined
  }
}

/** Writes for the current documents of the streams, and deletions of the documents that they no longer have. */
function* replacementWrites(
  writes: readonly DocumentWrite[],
  keys: Set<FieldValue>,
  revision: bigint,
): Iterable<DocumentWrite> {
  for (const write of writes) {
    if (!('put' in write)) continue
    keys.delete(write.put['id'] ?? '')
    yield { put: write.put, revision }
  }
  for (const key of keys) yield { remove: key, revision }
}
