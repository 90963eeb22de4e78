import {
  EventsRemoved,
  OutcomeUnknown,
  WrongRevision,
  type Append,
  type Position,
  type Revision,
} from '../ports/event-store.ts'
import type { BatchAppendResult, BatchAppendStream } from './batch-append-stream.ts'
import { encodeAppend, type AppendChunk } from './encoding.ts'
import { isInterruption, isNeverSent, STORE, toStoreUnavailable } from './failure.ts'
import type { Fence } from '../log/fence.ts'
import type { EventReader } from './reader.ts'

/** Concurrent appends of one bulk: enough to keep the batch-append call busy, but not more than the server has threads. */
const MAX_CONCURRENT_APPENDS = 128

/** Number of times that an append is sent while its outcome is unknown. */
const ATTEMPTS = 2

/**
 * Milliseconds after which an unknown outcome is reported instead of retried: callers have a deadline of 5 s, and one
 * append timeout takes 4 s of it. An append whose connection ended is retried later too: it did not wait for a response
 * if this process was suspended.
 */
const RETRY_WINDOW_MS = 1_000

/** Appends at exact expected revisions, so that the server recognises repeated appends, even after a restart. */
export class Appender {
  constructor(
    private readonly batches: BatchAppendStream,
    private readonly reader: EventReader,
    /** Undefined while this process fills the log. */
    private readonly fence: Pick<Fence, 'requireAppendAllowed'> | undefined,
    /** Called for each stored append immediately, even while others of its bulk are pending. */
    private readonly onStored: (position: Position) => void,
  ) {}

  /**
   * An append of more than 1 MiB is split into several. After a failure, the stored ones stay and are recognised when
   * the append is repeated.
   * @throws TypeError, WrongRevision, EventsRemoved, OutcomeUnknown, StoreUnavailable
   */
  async append(append: Append): Promise<Position> {
    return this.#appendChunks(append, encodeAppend(append))
  }

  /** @throws like append, after all appends sent have settled; prefers WrongRevision to other errors */
  async appendMany(appends: readonly Append[]): Promise<Position[]> {
    const encoded = appends.map((append) => ({ append, chunks: encodeAppend(append) }))
    const positions: Position[] = []
    const faults: unknown[] = []
    const startedAt = performance.now()
    const shouldStop = () => faults.length > 0 && performance.now() - startedAt > RETRY_WINDOW_MS
    // Appends to one stream are sent sequentially, those of different streams concurrently.
    const lanes = [...groupByStream(encoded).values()]
    const work = async () => {
      // After timeouts of the first appends, do not send the rest.
      for (let lane = lanes.shift(); lane !== undefined && !shouldStop(); lane = lanes.shift()) {
        try {
          for (const { index, append, chunks } of lane) positions[index] = await this.#appendChunks(append, chunks)
        } catch (error) {
          faults.push(error)
        }
      }
    }
    await Promise.all(Array.from({ length: Math.min(MAX_CONCURRENT_APPENDS, lanes.length) }, work))
    if (faults.length > 0) throw faults.find((fault) => fault instanceof WrongRevision) ?? faults[0]
    return positions
  }

  /**
   * Pipelines all appends over the batch-append call, which the server processes in order, then waits for the results.
   * Nothing is retried here: the caller repeats the whole call, and appends that are already stored are recognised, so
   * the order is kept.
   * @throws like append, after all results have arrived
   */
  async appendInOrder(appends: readonly Append[]): Promise<Position[]> {
    const encoded = appends.map((append) => ({ append, chunks: encodeAppend(append) }))
    for (const { append, chunks } of encoded)
      await this.fence?.requireAppendAllowed(
        append.stream,
        chunks.flatMap(({ types }) => types),
      )
    const pendingResults = encoded.map(({ append, chunks }) => this.#sendChunks(append, chunks))
    return Promise.all((await Promise.all(pendingResults)).map((result) => positionOf(result)))
  }

  /** @returns the result of the first chunk that was not stored, otherwise that of the last chunk */
  async #sendChunks({ stream, expected }: Append, chunks: readonly AppendChunk[]): Promise<AnsweredAppend> {
    let revision = expected
    const pendingResults = chunks.map((chunk) => {
      const expectedRevision = revision
      revision = (revision === 'none' ? -1n : revision) + BigInt(chunk.ids.length)
      return this.#send(stream, expectedRevision, chunk).then((result) => ({
        stream,
        expected: expectedRevision,
        result,
      }))
    })
    const results = await Promise.all(pendingResults)
    const chunkResult = results.find(({ result }) => result.kind !== 'stored') ?? results.at(-1)
    if (chunkResult === undefined) throw new TypeError(`an append to ${stream} needs at least one event`)
    return chunkResult
  }

  async #appendChunks({ stream, expected }: Append, chunks: readonly AppendChunk[]): Promise<Position> {
    let revision = expected
    let position: Position | undefined
    for (const chunk of chunks) {
      position = await this.#appendOnce(stream, revision, chunk)
      revision = (revision === 'none' ? -1n : revision) + BigInt(chunk.ids.length)
    }
    if (position === undefined) throw new TypeError(`an append to ${stream} needs at least one event`)
    return position
  }

  async #appendOnce(stream: string, expected: Revision, chunk: AppendChunk): Promise<Position> {
    const startedAt = performance.now()
    for (let attempt = 1; ; attempt++) {
      await this.fence?.requireAppendAllowed(stream, chunk.types)
      const result = await this.#send(stream, expected, chunk)
      if (result.kind === 'stored') return result.position
      if (result.kind === 'wrong revision') throw await this.#conflictError(stream, expected, result.actual)
      if (result.kind === 'stream deleted') throw new EventsRemoved(stream)
      const found = await this.#findStored(stream, expected, chunk, result)
      if (found !== undefined) {
        this.onStored(found)
        return found
      }
      if (result.kind === 'repeated') throw new EventsRemoved(stream)
      const isLate = performance.now() - startedAt > RETRY_WINDOW_MS
      if (attempt === ATTEMPTS || (isLate && !isInterruption(result.reason)))
        throw toOutcomeUnknown(stream, result.reason)
    }
  }

  async #send(stream: string, expected: Revision, chunk: AppendChunk): Promise<BatchAppendResult> {
    const result = await this.batches.send(stream, expected, chunk)
    if (result.kind === 'stored') this.onStored(result.position)
    return result
  }

  /** If a stream has a revision but no events to read, no other writer has won: reading it again would not help. */
  async #conflictError(stream: string, expected: Revision, actual: Revision): Promise<WrongRevision | EventsRemoved> {
    const isUnread = expected === 'none' && actual !== 'none' && (await this.reader.readNewest(stream, 1)).length === 0
    return isUnread ? new EventsRemoved(stream) : new WrongRevision(stream, expected, actual)
  }

  /** Reads whether an append was stored after all. Undefined if it has not been stored so far, or was removed. */
  async #findStored(
    stream: string,
    expected: Revision,
    { ids }: AppendChunk,
    { kind, reason }: Extract<BatchAppendResult, { reason: Error }>,
  ): Promise<Position | undefined> {
    if (kind === 'refused' || isNeverSent(reason))
      throw toStoreUnavailable(`the append to ${stream} was rejected`, reason)
    const first = expected === 'none' ? 0n : expected + 1n
    const stored = await this.reader.readRange(stream, first, ids.length).catch((error: unknown) => {
      throw toOutcomeUnknown(stream, reason, error)
    })
    if (stored.length === 0) return undefined
    const last = stored.at(-1)
    if (last !== undefined && stored.length === ids.length && stored.every(({ id }, index) => id === ids[index])) {
      return last.position
    }
    if (kind === 'repeated') return undefined
    const [newest] = await this.reader.readNewest(stream, 1)
    throw new WrongRevision(stream, expected, newest?.revision ?? 'none')
  }
}

type AnsweredAppend = { readonly stream: string; readonly expected: Revision; readonly result: BatchAppendResult }

/** @throws the error for a result that is not `stored`, without reading the stream again */
function positionOf({ stream, expected, result }: AnsweredAppend): Position {
  if (result.kind === 'stored') return result.position
  if (result.kind === 'stream deleted' || result.kind === 'repeated') throw new EventsRemoved(stream)
  if (result.kind === 'wrong revision') throw new WrongRevision(stream, expected, result.actual)
  if (result.kind === 'unknown') throw toOutcomeUnknown(stream, result.reason)
  throw toStoreUnavailable(`the append to ${stream} was rejected`, result.reason)
}

const toOutcomeUnknown = (stream: string, reason: Error, cause: unknown = reason) =>
  new OutcomeUnknown(`${STORE}: the outcome of the append to ${stream} is unknown: ${reason.message}`, {
    cause,
    store: STORE,
  })

function groupByStream<Item extends { readonly append: Append }>(items: readonly Item[]) {
  const lanes = new Map<string, (Item & { readonly index: number })[]>()
  for (const [index, item] of items.entries()) {
    const lane = lanes.get(item.append.stream)
    if (lane === undefined) lanes.set(item.append.stream, [{ ...item, index }])
    else lane.push({ ...item, index })
  }
  return lanes
}
