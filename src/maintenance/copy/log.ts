import { createHash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { CertificationAttached, CertificationRemoved } from '../../domain/certification/certification.ts'
import type { StoneModelAttached } from '../../domain/diamond/stone-model.ts'
import { STORES_STREAM } from '../../domain/installation/installation.ts'
import { COPY_STREAM } from '../../domain/installation/log-lifecycle.ts'
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

/** Where a log is cut: behind a place in it, or at the end of a millisecond (since 1970). */
export type LogCutoff = { readonly position: Position } | { readonly time: number }

/** A moment that the log has not reached has no state yet. */
export const isCutoffReached = (head: PositionOrStart, now: number, moment: LogCutoff): boolean =>
  'position' in moment ? comparePositions(moment.position, head) <= 0 : moment.time < now

/** Called with each event that stands in both logs, with its places. */
export type EventPairListener = (source: StoredEvent, target: StoredEvent) => void

/** Called with how many events were passed so far, and with the last of them as it stands in the source. */
export type CopyProgressListener = (events: number, last: StoredEvent) => void

/**
 * Two logs side by side, from their beginning: every event of the source must be the target's next one, the same in
 * stream, revision, id, type, data and metadata. What the target has no more of can be filled in. So a copy that was
 * interrupted anywhere goes on where it was, having looked at all it did. Each call goes on where the one before has ended,
 * and the digest with it: a place in a log never gets another event, so that nothing needs to be read twice.
 */
export class LogCopier {
  eventCount = 0
  #source: PositionOrStart = 'start'
  #target: PositionOrStart = 'start'
  readonly #digest = createHash('sha256')

  /** @param until where the source is cut; nowhere unless told */
  constructor(
    private readonly source: EventStore,
    private readonly target: EventStore,
    private readonly until?: LogCutoff,
  ) {}

  /** SHA-256 over the events so far, in hex. */
  digest(): string {
    return this.#digest.copy().digest('hex')
  }

  /**
   * Goes on to the source's head, or to where it is cut.
   * @param passed counts from the call
   * @returns how many events the target did not have, and has now
   * @throws Failed for a difference
   */
  async copyMissing(passed: CopyProgressListener): Promise<number> {
    let seen = 0
    let filled = 0
    let missing: StoredEvent[] = []
    const write = async () => {
      await writeInOrder(this.target, appendsOf(missing))
      filled += missing.length
      for (const event of missing) this.#advance(event)
      missing = []
    }
    await this.#readInParallel(async (event, there) => {
      if (there !== undefined) this.#requireSame(event, there)
      else if (missing.push(event) === BATCH_SIZE) await write()
      passed(++seen, event)
    })
    if (missing.length > 0) await write()
    // What was just written is passed over the next time.
    if (filled > 0) this.#target = await this.target.head()
    return filled
  }

  /**
   * Goes on until so many events were passed since the beginning, and holds that the target has these and ends there.
   * @throws Failed for a difference
   */
  async compare(events: number, pair: EventPairListener): Promise<void> {
    const left = await this.#readInParallel(async (event, there) => {
      if (there === undefined) throw createDifferenceError(event, 'the target does not have it')
      this.#requireSame(event, there)
      pair(event, there)
    }, events)
    if (left !== undefined) throw createDifferenceError(left, 'the source does not have it')
  }

  /** @returns the first event that the target has beyond the last one */
  async #readInParallel(
    each: (event: StoredEvent, there: StoredEvent | undefined) => Promise<void>,
    events = Number.POSITIVE_INFINITY,
  ): Promise<StoredEvent | undefined> {
    const source = this.eventCount < events ? copyableEvents(this.source.readAll(this.#source), this.until) : []
    const target = copyableEvents(this.target.readAll(this.#target))
    try {
      for await (const event of source) {
        await each(event, (await target.next()).value ?? undefined)
        if (this.eventCount === events) break
      }
      return (await target.next()).value ?? undefined
    } finally {
      await target.return(undefined)
    }
  }

  #requireSame(event: StoredEvent, there: StoredEvent): void {
    if (textOf(event) !== textOf(there)) {
      throw createDifferenceError(
        event,
        `the target has ${there.stream}@${there.revision} (${there.type}, ${there.id}) there`,
      )
    }
    this.#advance(event)
    this.#target = there.position
  }

  #advance(event: StoredEvent): void {
    this.#digest.update(`${textOf(event)}\n`)
    this.#source = event.position
    this.eventCount++
  }
}

const UNCOPIED_STREAMS: ReadonlySet<string> = new Set([COPY_STREAM, STORES_STREAM])

/**
 * The events that a copy takes along: not what a log knows of how it was filled, and of its vault and files, which is its
 * own. Cut at a moment it ends before the first event that is behind the place, or is written later than the time. Each
 * process has a clock of its own, and `at` only grows within a stream: an event that a slow clock wrote behind one that is
 * later than the time is left out with it, so that what is left is always a beginning of the log, with nothing in it that
 * was not caused by what stands in it.
 */
async function* copyableEvents(
  events: AsyncIterable<StoredEvent>,
  until?: LogCutoff,
): AsyncGenerator<StoredEvent, undefined> {
  for await (const event of events) {
    if (until !== undefined && isBeyondCutoff(event, until)) return undefined
    if (!UNCOPIED_STREAMS.has(event.stream)) yield event
  }
  return undefined
}

const isBeyondCutoff = ({ position, metadata }: StoredEvent, moment: LogCutoff): boolean =>
  'position' in moment
    ? comparePositions(position, moment.position) > 0
    : Date.parse(metadata['at'] ?? '') > moment.time

const textOf = ({ stream, revision, id, type, data, metadata }: StoredEvent): string =>
  JSON.stringify([stream, String(revision), id, type, data, metadata])

const createDifferenceError = ({ stream, revision, type, id }: StoredEvent, how: string) =>
  new OperationFailure(
    `The target's log is not the source's. At ${stream}@${revision} (${type}, ${id}): ${how}. ` +
      'Empty the target, or name another one, and copy again',
  )

/** Events that are read before they are written: one transaction on SQLite. */
const BATCH_SIZE = 500

/** Neighbours of one stream go together; the order stays. */
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
 * Appends in this order and no other: together where that is one transaction, else one behind the other.
 * @throws Failed where the target holds something else or in another order, or stays away
 */
export async function writeInOrder(target: EventStore, appends: readonly Append[]): Promise<void> {
  const positions = await retryWhileUnavailable(() => target.appendMany(appends, 'kept'))
  for (const [index, position] of positions.entries()) {
    if (comparePositions(positions[index - 1] ?? 'start', position) < 0) continue
    const stream = appends[index]?.stream
    throw new OperationFailure(
      `The target did not keep the order at ${stream}: empty it, or name another one, and copy again`,
    )
  }
}

/** Milliseconds for which a store that is away is tried, and between two tries. */
const RETRY_TIMEOUT_MS = 60_000
const RETRY_INTERVAL_MS = 250

/** A repeat with the same ids is recognised, so that an unknown outcome is simply tried again. */
async function retryWhileUnavailable<Result>(work: () => Promise<Result>): Promise<Result> {
  const ends = performance.now() + RETRY_TIMEOUT_MS
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (error instanceof WrongRevision)
        throw new OperationFailure(`Somebody else writes to the target: ${error.message}`)
      const passes = error instanceof OutcomeUnknown || error instanceof StoreUnavailable
      if (!passes || error instanceof LogClosed || performance.now() > ends) throw error
      await pause(RETRY_INTERVAL_MS)
    }
  }
}

/** An event in the target's log. */
export type TargetEventPosition = { readonly id: string; readonly position: Position }

/** Of so many compared events the places of one are kept: a log of ten million events costs some 20 MB. */
const POSITION_SAMPLE_INTERVAL = 100

/**
 * Where the source's events are in the target's log. What is asked for is known only when the source is closed, and the logs
 * were compared before: so places are kept on the way, some events apart, and what lies between is read when it is asked for.
 */
export class PositionMap {
  readonly #samples: { readonly source: Position; readonly target: TargetEventPosition }[] = []
  #eventCount = 0

  constructor(
    private readonly source: EventStore,
    private readonly target: EventStore,
  ) {}

  /** To be told of every event, in the log's order. */
  readonly addPair: EventPairListener = ({ position }, { id, position: there }) => {
    if (this.#eventCount++ % POSITION_SAMPLE_INTERVAL === 0)
      this.#samples.push({ source: position, target: { id, position: there } })
  }

  /** The target's place of the last event that the source has up to this one of its own; undefined before the first. */
  readonly findTarget = async (position: Position): Promise<TargetEventPosition | undefined> => {
    const near = this.#samples.findLast(({ source }) => comparePositions(source, position) <= 0)
    if (near === undefined) return undefined
    let last = near.target
    const target = copyableEvents(this.target.readAll(near.target.position))
    try {
      for await (const event of copyableEvents(this.source.readAll(near.source))) {
        if (comparePositions(event.position, position) > 0) break
        const { value } = await target.next()
        if (value === undefined) break
        last = { id: value.id, position: value.position }
      }
    } finally {
      await target.return(undefined)
    }
    return last
  }
}

export type LogFacts = Omit<Manifest['log'], 'file'> & {
  /** Digests of the files that certifications and stones' models have. */
  readonly files: ReadonlySet<string>
}

/** What a log says of itself, from its first event to its last. */
export async function logFacts(store: EventStore): Promise<LogFacts> {
  const files = new Map<string, string>()
  let events = 0
  let last: StoredEvent | undefined
  for await (const event of store.readAll('start')) {
    events++
    last = event
    if (event.type === 'CertificationAttached') {
      const { id, file } = decode<CertificationAttached>(event).data
      if (file !== null) files.set(nameOf(event.stream, id), file.digest)
    } else if (event.type === 'CertificationRemoved') {
      files.delete(nameOf(event.stream, decode<CertificationRemoved>(event).data.id))
    } else if (event.type === 'StoneModelAttached') {
      files.set(nameOf(event.stream, 'model'), decode<StoneModelAttached>(event).data.file.digest)
    } else if (event.type === 'StoneModelRemoved') {
      files.delete(nameOf(event.stream, 'model'))
    }
  }
  if (last === undefined) throw new OperationFailure('The log is empty: there is nothing to be backed up')
  return {
    identity: await store.identity(),
    epoch: await readEpoch(store),
    events,
    position: formatPosition(last.position),
    last: last.id,
    files: new Set(files.values()),
  }
}

const nameOf = (stream: string, of: number | 'model') => `${stream}/${of}`
