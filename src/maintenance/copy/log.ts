import { createHash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { CertificationAttached, CertificationRemoved } from '../../domain/certification/certification.ts'
import type { StoneModelAttached } from '../../domain/diamond/stone-model.ts'
import { STORES_STREAM } from '../../domain/installation/installation.ts'
import { COPY_STREAM } from '../../domain/installation/read-only-state.ts'
import { decode } from '../../events/decode.ts'
import { readEpoch } from '../../events/lineage.ts'
import {
  comparePositions,
  LogClosed,
  OutcomeUnknown,
  formatPosition,
  StoreUnavailable,
  WrongRevision,
  type Append,
  type EventStore,
  type PositionOrStart,
  type Position,
  type StoredEvent,
} from '../../stores/ports/event-store.ts'
import type { Manifest } from '../backup/manifest.ts'
import { OperationFailure } from '../operation.ts'

/** Where to cut a log: after a position, or at the end of a millisecond since 1970. */
export type LogCutoff = { readonly position: Position } | { readonly time: number }

/** Whether the log has reached the cutoff, so that its state there is final. */
export const isCutoffReached = (head: PositionOrStart, now: number, cutoff: LogCutoff): boolean =>
  'position' in cutoff ? comparePositions(cutoff.position, head) <= 0 : cutoff.time < now

/** An event in the target's log. */
export type TargetEventPosition = { readonly id: string; readonly position: Position }

/** Called with the number of events read so far, and with the last of them as in the source. */
type CopyProgressListener = (events: number, last: StoredEvent) => void

/**
 * Reads two logs in parallel from their start. Every event of the source must be the target's next event, with the same stream,
 * revision, id, type, data and metadata; events that the target lacks at its end are copied. An interrupted copy can therefore
 * resume at any event, after comparing those that the target has. Since logs are append-only, each call continues where the
 * previous one ended, as does the digest.
 */
export class LogCopier {
  eventCount = 0
  /** The last event read, as in the source. */
  lastEvent: StoredEvent | undefined
  #targetPosition: PositionOrStart = 'start'
  readonly #digest = createHash('sha256')

  /** @param cutoff where to cut the source; without it, at its head */
  constructor(
    private readonly source: EventStore,
    private readonly target: EventStore,
    private readonly cutoff?: LogCutoff,
  ) {}

  /** SHA-256 over the events read so far, in hex. */
  digest(): string {
    return this.#digest.copy().digest('hex')
  }

  /**
   * Continues up to the source's head or the cutoff, and copies the events that the target lacks.
   * @param onProgress progress, counted from this call
   * @returns the number of copied events
   * @throws OperationFailure for a difference
   */
  async copyMissing(onProgress: CopyProgressListener): Promise<number> {
    let readCount = 0
    let copiedCount = 0
    let missing: StoredEvent[] = []
    const write = async () => {
      await writeInOrder(this.target, appendsOf(missing))
      copiedCount += missing.length
      for (const event of missing) this.#advance(event)
      missing = []
    }
    await this.#readInParallel(async (event, targetEvent) => {
      if (targetEvent !== undefined) this.#requireSame(event, targetEvent)
      else if (missing.push(event) === BATCH_SIZE) await write()
      onProgress(++readCount, event)
    })
    if (missing.length > 0) await write()
    // The next call skips the events that were just written.
    if (copiedCount > 0) this.#targetPosition = await this.target.head()
    return copiedCount
  }

  /**
   * Continues up to this number of events from the start of the log, and checks that the target has the same events and ends there.
   * @param onProgress called with each event
   * @throws OperationFailure for a difference
   */
  async compare(limit: number, onProgress: (event: StoredEvent) => void): Promise<void> {
    const surplusEvent = await this.#readInParallel(async (event, targetEvent) => {
      if (targetEvent === undefined) throw createDifferenceError(event, 'the target does not have it')
      this.#requireSame(event, targetEvent)
      onProgress(event)
    }, limit)
    if (surplusEvent !== undefined) throw createDifferenceError(surplusEvent, 'the source does not have it')
  }

  /** The target's copy of the last event up to a position of the source; undefined before the first event. */
  async findTarget(position: Position): Promise<TargetEventPosition | undefined> {
    const event = await this.#findLastCopied(position)
    if (event === undefined) return undefined
    const targetEvents = await this.target.readStream(event.stream)
    const targetEvent = targetEvents.find(({ id }) => id === event.id)
    return targetEvent && { id: event.id, position: targetEvent.position }
  }

  async #findLastCopied(position: Position): Promise<StoredEvent | undefined> {
    if (this.lastEvent !== undefined && comparePositions(this.lastEvent.position, position) <= 0) return this.lastEvent
    const event = await this.source.eventAt(position)
    if (event !== undefined && !UNCOPIED_STREAMS.has(event.stream)) return event
    // Rare: no copied event is at the position. The whole log is read, since stores read it only forwards.
    let last: StoredEvent | undefined
    for await (const earlierEvent of copyableEvents(this.source.readAll('start'), { position })) last = earlierEvent
    return last
  }

  /** @returns the first event of the target after the last event read, if there is one */
  async #readInParallel(
    onEvent: (event: StoredEvent, targetEvent: StoredEvent | undefined) => Promise<void>,
    limit = Number.POSITIVE_INFINITY,
  ): Promise<StoredEvent | undefined> {
    const from = this.lastEvent?.position ?? 'start'
    const source = this.eventCount < limit ? copyableEvents(this.source.readAll(from), this.cutoff) : []
    const target = copyableEvents(this.target.readAll(this.#targetPosition))
    try {
      for await (const event of source) {
        await onEvent(event, (await target.next()).value ?? undefined)
        if (this.eventCount === limit) break
      }
      return (await target.next()).value ?? undefined
    } finally {
      await target.return(undefined)
    }
  }

  #requireSame(event: StoredEvent, targetEvent: StoredEvent): void {
    if (textOf(event) !== textOf(targetEvent)) {
      throw createDifferenceError(
        event,
        `the target has ${targetEvent.stream}@${targetEvent.revision} (${targetEvent.type}, ${targetEvent.id}) instead`,
      )
    }
    this.#advance(event)
    this.#targetPosition = targetEvent.position
  }

  #advance(event: StoredEvent): void {
    this.#digest.update(`${textOf(event)}\n`)
    this.lastEvent = event
    this.eventCount++
  }
}

const UNCOPIED_STREAMS: ReadonlySet<string> = new Set([COPY_STREAM, STORES_STREAM])

/**
 * The events to copy: all except those about the log's own copy, vault and files. With a cutoff, ends before the first event
 * after the position or time. Machines' clocks differ, and `at` only grows within a stream, so that events after that one may have
 * an earlier time. They are left out too: the copy must be a prefix of the log, which contains the cause of each of its events.
 */
async function* copyableEvents(
  events: AsyncIterable<StoredEvent>,
  cutoff?: LogCutoff,
): AsyncGenerator<StoredEvent, undefined> {
  for await (const event of events) {
    if (cutoff !== undefined && isBeyondCutoff(event, cutoff)) return undefined
    if (!UNCOPIED_STREAMS.has(event.stream)) yield event
  }
  return undefined
}

const isBeyondCutoff = ({ position, metadata }: StoredEvent, cutoff: LogCutoff): boolean =>
  'position' in cutoff
    ? comparePositions(position, cutoff.position) > 0
    : Date.parse(metadata['at'] ?? '') > cutoff.time

const textOf = ({ stream, revision, id, type, data, metadata }: StoredEvent): string =>
  JSON.stringify([stream, String(revision), id, type, data, metadata])

const createDifferenceError = ({ stream, revision, type, id }: StoredEvent, difference: string) =>
  new OperationFailure(
    `The target's log differs from the source's at ${stream}@${revision} (${type}, ${id}): ${difference}. ` +
      'Empty the target or choose another one, then copy again',
  )

/** Events that are written together: one transaction on SQLite. */
const BATCH_SIZE = 500

/** Groups consecutive events of the same stream, in order. */
export function appendsOf(events: readonly StoredEvent[]): Append[] {
  const appends: (Append & { readonly events: StoredEvent[] })[] = []
  for (const event of events) {
    const last = appends.at(-1)
    if (last?.stream === event.stream) last.events.push(event)
    else appends.push({ stream: event.stream, expected: revisionBefore(event.revision), events: [event] })
  }
  return appends
}

const revisionBefore = (revision: bigint) => (revision === 0n ? 'none' : revision - 1n)

/**
 * Appends strictly in this order. Retries for a minute if the target is unavailable.
 * @throws OperationFailure if the target has other events or another order, StoreUnavailable
 */
export async function writeInOrder(target: EventStore, appends: readonly Append[]): Promise<void> {
  const positions = await retryWhileUnavailable(() => target.appendMany(appends, 'kept'))
  for (const [index, position] of positions.entries()) {
    if (comparePositions(positions[index - 1] ?? 'start', position) < 0) continue
    const stream = appends[index]?.stream
    throw new OperationFailure(
      `The target changed the order of events at ${stream}. Empty the target or choose another one, then copy again`,
    )
  }
}

/** How long an unavailable store is retried. */
const RETRY_TIMEOUT_MS = 60_000
const RETRY_INTERVAL_MS = 250

/** Appends with the same event ids are idempotent, so that an unknown outcome can be retried. */
async function retryWhileUnavailable<Result>(work: () => Promise<Result>): Promise<Result> {
  const deadline = performance.now() + RETRY_TIMEOUT_MS
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (error instanceof WrongRevision)
        throw new OperationFailure(`Another process writes to the target: ${error.message}`)
      const isTransient = error instanceof OutcomeUnknown || error instanceof StoreUnavailable
      if (!isTransient || error instanceof LogClosed || performance.now() > deadline) throw error
      await pause(RETRY_INTERVAL_MS)
    }
  }
}

export type LogFacts = Omit<Manifest['log'], 'file'> & {
  /** Digests of the files that certifications and 3D models refer to. */
  readonly files: ReadonlySet<string>
}

/** Reads the whole log. @throws OperationFailure if it is empty */
export async function readLogFacts(store: EventStore): Promise<LogFacts> {
  const files = new Map<string, string>()
  let events = 0
  let last: StoredEvent | undefined
  for await (const event of store.readAll('start')) {
    events++
    last = event
    if (event.type === 'CertificationAttached') {
      const { id, file } = decode<CertificationAttached>(event).data
      if (file !== null) files.set(attachmentKey(event.stream, id), file.digest)
    } else if (event.type === 'CertificationRemoved') {
      files.delete(attachmentKey(event.stream, decode<CertificationRemoved>(event).data.id))
    } else if (event.type === 'StoneModelAttached') {
      files.set(attachmentKey(event.stream, 'model'), decode<StoneModelAttached>(event).data.file.digest)
    } else if (event.type === 'StoneModelRemoved') {
      files.delete(attachmentKey(event.stream, 'model'))
    }
  }
  if (last === undefined) throw new OperationFailure('The event log is empty: there is nothing to back up')
  return {
    identity: await store.identity(),
    epoch: await readEpoch(store),
    events,
    position: formatPosition(last.position),
    last: last.id,
    files: new Set(files.values()),
  }
}

const attachmentKey = (stream: string, attachment: number | 'model') => `${stream}/${attachment}`
