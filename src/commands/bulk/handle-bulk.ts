import { randomUUID } from 'node:crypto'
import type { RequestAccepted, RequestDone } from '../../domain/bulk/bulk.ts'
import { diamondFold, diamondIdOfStream, diamondStream, type DiamondEvent } from '../../domain/diamond/diamond.ts'
import { decode } from '../../events/decode.ts'
import { eventId, toEventMetadata, eventTimeOf, type Origin } from '../../events/event-metadata.ts'
import {
  EventsRemoved,
  WrongRevision,
  type Append,
  type NewEvent,
  type Position,
  type Revision,
  type StoredEvent,
} from '../../stores/ports/event-store.ts'
import { appendAll, latestPosition, withEventVersion } from '../core/append.ts'
import { revisionAfter, type CommandContext } from '../core/handle.ts'
import { foldEvents } from '../../events/load-stream.ts'
import { withRetry } from '../core/retry.ts'
import {
  findPendingWork,
  requestStream,
  canonicalDigest,
  requestAcceptedEvents,
  readRecord,
  requireSameBody,
  type Bulk,
  type BulkChanges,
  type RequestRecord,
  type BulkWork,
} from './request-record.ts'

type RequestRecordHead = Pick<Bulk, 'stream' | 'body' | 'expected'>

/**
 * Appends all of the changes and the record of the request, or nothing. If the store has no atomic append to several
 * streams, the planned changes are first stored as an accepted request, which any process can complete, also after a
 * crash.
 * @param record optional; without one, a request with several changes on a non-atomic store gets an anonymous record
 * @throws WrongRevision of a changed stream (atomic stores) or of the record only, and nothing is written then;
 *   OutcomeUnknown or StoreUnavailable, and the request may be completed later
 */
async function appendAtomically(
  context: CommandContext,
  changes: BulkChanges,
  record?: RequestRecordHead,
): Promise<Position | undefined> {
  const { store } = context
  const { appends, diamonds, metadata } = changes
  if (store.isAppendManyAtomic || appends.length === 0 || (appends.length === 1 && record === undefined)) {
    // A random id: another process's attempt at the same request must not be taken for a repeat of this one.
    const done = (body: string) => doneEvent({ body, diamonds }, randomUUID(), metadata)
    const recordAppend = record && { stream: record.stream, expected: record.expected, events: [done(record.body)] }
    return appendAll(context, recordAppend === undefined ? appends : [...appends, recordAppend])
  }
  const anonymousRecord = {
    stream: requestStream(randomUUID()),
    body: canonicalDigest(diamonds),
    expected: 'none' as const,
  }
  const bulk = { ...changes, ...(record ?? anonymousRecord) }
  const { stream, expected } = bulk
  const accepted = requestAcceptedEvents(bulk)
  await appendAll(context, [{ stream, expected, events: accepted }])
  return applyAndComplete(context, bulk, revisionAfter(expected, accepted.length))
}

/**
 * Completes an accepted bulk request. Safe to run in several processes: each change is applied once.
 * @returns undefined if there is nothing to complete
 * @throws OutcomeUnknown, StoreUnavailable
 */
export async function finishBulk(context: CommandContext, stream: string): Promise<Position | undefined> {
  const pending = findPendingWork(await context.store.readStream(stream))
  return pending && applyAndComplete(context, pending.work, pending.revision)
}

async function applyAndComplete(
  context: CommandContext,
  work: BulkWork,
  revision: bigint,
): Promise<Position | undefined> {
  const { stream, metadata, appends } = work
  const changesPosition = await applyChanges(context, appends)
  const at = new Date(Math.max(context.clock(), eventTimeOf({ metadata }))).toISOString()
  // The id is the same in every process, so that the store recognises a second append as a repeat.
  const done = doneEvent(work, eventId(`${stream}/${revision}/done`, 0), { ...metadata, at })
  return latestPosition([changesPosition, await appendAll(context, [{ stream, expected: revision, events: [done] }])])
}

function doneEvent({ body, diamonds }: RequestDone['data'], id: string, metadata: NewEvent['metadata']): NewEvent {
  return { id, type: 'RequestDone', data: { body, diamonds }, metadata: withEventVersion(metadata, 'RequestDone') }
}

/**
 * Applies accepted changes, each once. A diamond that was changed in the meantime is changed on top of that; one that
 * was deleted in the meantime stays deleted, and so does one that an operator removed from the log.
 * @throws OutcomeUnknown, StoreUnavailable
 */
async function applyChanges(context: CommandContext, appends: readonly Append[]): Promise<Position | undefined> {
  try {
    return await appendAll(context, appends)
  } catch (error) {
    if (!(error instanceof WrongRevision || error instanceof EventsRemoved)) throw error
  }
  return latestPosition(await Promise.all(appends.map((append) => applyUnlessRemoved(context, append))))
}

async function applyUnlessRemoved(context: CommandContext, append: Append): Promise<Position | undefined> {
  try {
    return await applyOne(context, append)
  } catch (error) {
    if (error instanceof EventsRemoved) return undefined
    throw error
  }
}

function applyOne({ store }: CommandContext, append: Append): Promise<Position | undefined> {
  const { expected } = append
  // Events in the stream of a new diamond stay there, so a retry is pointless.
  return withRetry({ on: expected === 'none' ? [] : [WrongRevision] }, async () => {
    const storedEvents = await store.readStream(append.stream)
    const appendedEvent = findAppendedEvent(storedEvents, append)
    if (appendedEvent !== undefined) return appendedEvent.position
    const last = storedEvents.at(-1)
    if (expected === 'none' && last !== undefined) throw new WrongRevision(append.stream, expected, last.revision)
    if (expected !== 'none' && foldEvents(diamondFold, storedEvents).status !== 'live') return undefined
    return store.append(append.stream, last?.revision ?? 'none', withMonotonicTimes(last, append.events))
  })
}

function findAppendedEvent(storedEvents: readonly StoredEvent[], { events }: Append): StoredEvent | undefined {
  const last = events.at(-1)
  return storedEvents.find(({ id }) => id === last?.id)
}

/**
 * Keeps time from going backwards within a stream. Both times are ISO 8601 UTC with milliseconds, so they compare as
 * strings.
 */
function withMonotonicTimes(last: StoredEvent | undefined, events: Append['events']): Append['events'] {
  const earliest = last?.metadata['at'] ?? ''
  return events.map((event) => {
    const at = event.metadata['at'] ?? ''
    return at >= earliest ? event : { ...event, metadata: { ...event.metadata, at: earliest } }
  })
}

/** Without events nothing is appended. */
type DiamondDecision = {
  readonly stream: string
  /**
   * The revision that the decision is based on. `lastEventAt` is the time of that event in milliseconds since 1970, or
   * 0.
   */
  readonly expected: Revision
  readonly lastEventAt: number
  readonly events: readonly DiamondEvent[]
}

export type BulkDecision<Result> = { readonly decisions: readonly DiamondDecision[]; readonly result: Result }

export type BulkResult<Result> = Result & { readonly position: Position | undefined }

/** The record shows that the bulk was completed. */
type BulkIdempotency<Result> = RequestRecord & {
  /** Whether to store a record even if there is nothing to append. */
  readonly recordsNoChange?: boolean
  /** Builds the response to a repeated request from the record's diamonds and position. */
  readonly replay: (diamonds: readonly number[], position: Position) => Promise<BulkResult<Result>>
}

type BulkCommand<Result> = {
  readonly origin: Origin
  /** Existing diamonds; other commands of this process on them wait. */
  readonly diamonds?: readonly number[]
  readonly idempotency?: BulkIdempotency<Result>
  /** Loads what it needs, and decides. May run several times. @param now milliseconds since 1970 */
  readonly decide: (now: number) => Promise<BulkDecision<Result>>
}

/**
 * The command handler for several diamonds: decides on all of them and appends all or nothing, together with a record
 * of the request if `idempotency` is given. A repeated request is answered from its record; a concurrent one waits; one
 * that another process accepted but did not complete is completed first. A rejected request leaves no record. After a
 * conflict with another process the decision is made again.
 * @throws RequestError 'invalid' if the record has a different body; whatever `decide` and `replay` throw;
 *   WrongRevision after the last attempt, OutcomeUnknown, StoreUnavailable
 */
export function handleBulk<Result extends object>(
  context: CommandContext,
  command: BulkCommand<Result>,
): Promise<BulkResult<Result>> {
  const { diamonds = [], idempotency } = command
  const streams = [...(idempotency === undefined ? [] : [idempotency.stream]), ...diamonds.map(diamondStream)]
  const onRetry = (error: unknown) => context.outcomes.countRetry(ANY_DIAMOND, error)
  return context.queue.runAll(streams, () =>
    context.outcomes.track(ANY_DIAMOND, () =>
      withRetry({ on: [WrongRevision], onRetry }, () => attemptBulk(context, command)),
    ),
  )
}

/** The stream whose category bulk outcomes are counted under. */
const ANY_DIAMOND = diamondStream(0)

async function attemptBulk<Result extends object>(
  context: CommandContext,
  { origin, idempotency, decide }: BulkCommand<Result>,
): Promise<BulkResult<Result>> {
  const { stateCache, clock } = context
  const existing = idempotency && (await readExistingRecord(context, idempotency))
  if (idempotency !== undefined && existing?.done !== undefined)
    return idempotency.replay(existing.done.diamonds, existing.done.position)
  const now = clock()
  const { decisions, result } = await decide(now)
  const decided = decisions.filter(({ events }) => events.length > 0)
  const at = decided.reduce((latest, one) => Math.max(latest, one.lastEventAt), now)
  const metadata = toEventMetadata(origin, at)
  const appends = decided.map(({ stream, expected, events }): Append => {
    if (expected !== 'none') stateCache.invalidate(stream)
    const toNewEvent = ({ type, data }: DiamondEvent) => ({
      id: randomUUID(),
      type,
      data,
      metadata: withEventVersion(metadata, type),
    })
    return { stream, expected, events: events.map(toNewEvent) }
  })
  const isRecorded = idempotency !== undefined && (appends.length > 0 || idempotency.recordsNoChange === true)
  if (appends.length === 0 && !isRecorded) return { ...result, position: undefined }
  const record = isRecorded ? { ...idempotency, expected: existing?.revision ?? ('none' as const) } : undefined
  const diamonds = decided.map(({ stream }) => diamondIdOfStream(stream))
  return {
    ...result,
    position: await appendAtomically(context, { diamonds, appends, metadata }, record),
  }
}

type ExistingRecord = {
  readonly revision: Revision
  readonly done?: { readonly diamonds: readonly number[]; readonly position: Position }
}

/** @throws RequestError 'invalid' if the record has a different body */
async function readExistingRecord(context: CommandContext, record: RequestRecord): Promise<ExistingRecord> {
  const { revision, existing } = await readRecord(context, record)
  if (existing?.type === 'RequestDone') {
    const { diamonds } = requireSameBody(decode<RequestDone>(existing), record.body)
    return { revision, done: { diamonds, position: existing.position } }
  }
  if (existing !== undefined) {
    requireSameBody(decode<RequestAccepted>(existing), record.body)
    if ((await finishBulk(context, record.stream)) !== undefined) return readExistingRecord(context, record)
  }
  return { revision }
}
