import { randomUUID } from 'node:crypto'
import type { RequestAccepted, RequestDone } from '../../domain/bulk/bulk.ts'
import { diamondDecider, diamondIdOfStream, diamondStream, type DiamondEvent } from '../../domain/diamond/diamond.ts'
import { decode } from '../../events/decode.ts'
import { eventId, toEventMetadata, eventTimeOf, type Origin } from '../../events/event-metadata.ts'
import {
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

/** Where a record stands: the revision that it has. */
type RequestRecordHead = Pick<Bulk, 'stream' | 'body' | 'expected'>

/**
 * Makes all of the changes and the record of them, or nothing. Where the store can't write them at once, it is first told
 * what is going to be written: another process can finish it later, also after a crash.
 * @param record without one, only a store that can't write them at once needs any
 * @throws WrongRevision of a changed stream where the store writes all at once, else of the record only, and nothing
 *   is written then; OutcomeUnknown, StoreUnavailable: it may be carried out later
 */
async function appendAtomically(
  context: CommandContext,
  changes: BulkChanges,
  record?: RequestRecordHead,
): Promise<Position | undefined> {
  const { store } = context
  const { appends, diamonds, metadata } = changes
  if (store.isAppendManyAtomic || appends.length === 0 || (appends.length === 1 && record === undefined)) {
    // Another process's try of the same request must not pass for a repeat of this one.
    const done = (body: string) => doneEvent({ body, diamonds }, randomUUID(), metadata)
    const recorded = record && { stream: record.stream, expected: record.expected, events: [done(record.body)] }
    return appendAll(context, recorded === undefined ? appends : [...appends, recorded])
  }
  const unnamed = { stream: requestStream(randomUUID()), body: canonicalDigest(diamonds), expected: 'none' as const }
  const bulk = { ...changes, ...(record ?? unnamed) }
  const { stream, expected } = bulk
  const accepted = requestAcceptedEvents(bulk)
  await appendAll(context, [{ stream, expected, events: accepted }])
  return applyAndComplete(context, bulk, revisionAfter(expected, accepted.length))
}

/**
 * Finishes what was accepted and is not done; the same changes are made once, however many processes do so.
 * @returns undefined when there is nothing to finish
 * @throws OutcomeUnknown, StoreUnavailable
 */
export async function finishBulk(context: CommandContext, stream: string): Promise<Position | undefined> {
  const found = findPendingWork(await context.store.read(stream))
  return found && applyAndComplete(context, found.work, found.revision)
}

async function applyAndComplete(
  context: CommandContext,
  work: BulkWork,
  revision: bigint,
): Promise<Position | undefined> {
  const { stream, metadata, appends } = work
  const applied = await applyChanges(context, appends)
  const at = new Date(Math.max(context.clock(), eventTimeOf({ metadata }))).toISOString()
  // The same id in every process, so that a second one is a repeat.
  const done = doneEvent(work, eventId(`${stream}/${revision}/done`, 0), { ...metadata, at })
  return latestPosition([applied, await appendAll(context, [{ stream, expected: revision, events: [done] }])])
}

function doneEvent({ body, diamonds }: RequestDone['data'], id: string, metadata: NewEvent['metadata']): NewEvent {
  return { id, type: 'RequestDone', data: { body, diamonds }, metadata: withEventVersion(metadata, 'RequestDone') }
}

/**
 * Makes changes that were accepted, each once. A diamond that was changed by somebody else meanwhile is changed on top
 * of that; one that was deleted meanwhile stays so, as if the change had come before.
 * @throws OutcomeUnknown, StoreUnavailable
 */
async function applyChanges(context: CommandContext, appends: readonly Append[]): Promise<Position | undefined> {
  try {
    return await appendAll(context, appends)
  } catch (error) {
    if (!(error instanceof WrongRevision)) throw error
  }
  return latestPosition(await Promise.all(appends.map((append) => applyOne(context, append))))
}

function applyOne({ store }: CommandContext, append: Append): Promise<Position | undefined> {
  const { expected } = append
  // What is in the way of a new diamond does not go away.
  return withRetry({ on: expected === 'none' ? [] : [WrongRevision] }, async () => {
    const stored = await store.read(append.stream)
    const own = findAppendedEvent(stored, append)
    if (own !== undefined) return own.position
    const last = stored.at(-1)
    if (expected === 'none' && last !== undefined) throw new WrongRevision(append.stream, expected, last.revision)
    if (expected !== 'none' && foldEvents(diamondDecider, stored).status !== 'live') return undefined
    return store.append(append.stream, last?.revision ?? 'none', withMonotonicTimes(last, append.events))
  })
}

/** The last event of the change, where it is in the stream. */
function findAppendedEvent(stored: readonly StoredEvent[], { events }: Append): StoredEvent | undefined {
  const last = events.at(-1)
  return stored.find(({ id }) => id === last?.id)
}

/** Time does not go back within a stream: both are UTC, to the millisecond, and so compare as texts. */
function withMonotonicTimes(last: StoredEvent | undefined, events: Append['events']): Append['events'] {
  const least = last?.metadata['at'] ?? ''
  return events.map((event) => {
    const at = event.metadata['at'] ?? ''
    return at >= least ? event : { ...event, metadata: { ...event.metadata, at: least } }
  })
}

/** What was decided on one of several diamonds; nothing is written for one without events. */
export type DiamondDecision = {
  readonly stream: string
  /** The revision that it was decided on, and the time of that event in milliseconds since 1970; 0 without one. */
  readonly expected: Revision
  readonly at: number
  readonly events: readonly DiamondEvent[]
}

/** What is decided on all of them, and what the caller is told of it. */
export type BulkDecision<Told> = { readonly decisions: readonly DiamondDecision[]; readonly result: Told }

export type BulkResult<Told> = Told & { readonly position: Position | undefined }

/** Says that a request was carried out, and keeps it from being carried out twice. */
export type BulkIdempotency<Told> = RequestRecord & {
  /** Whether there is a record where nothing had to be written. */
  readonly recordsNoChange?: boolean
  /** The answer to a repeat, by the diamonds of the record and where that stands. */
  readonly replay: (diamonds: readonly number[], position: Position) => Promise<BulkResult<Told>>
}

export type BulkCommand<Told> = {
  readonly origin: Origin
  /** Diamonds that exist: other commands of this process on them wait. */
  readonly diamonds?: readonly number[]
  readonly once?: BulkIdempotency<Told>
  /** Loads what it needs, and decides; may run several times. @param now milliseconds since 1970 */
  readonly decide: (now: number) => Promise<BulkDecision<Told>>
}

/**
 * Decides on several diamonds and writes all of it or nothing, with a record of it where the wish has one: a repeat finds
 * the record, one that comes meanwhile waits for it, and what another process began and did not end is finished first. What
 * is refused leaves no record. Where another process was first, it is decided again.
 * @throws Refusal invalid where the record is of another body; what `decide` and `again` throw; WrongRevision after the last
 *   try, OutcomeUnknown, StoreUnavailable
 */
export function handleBulk<Told extends object>(
  context: CommandContext,
  command: BulkCommand<Told>,
): Promise<BulkResult<Told>> {
  const { diamonds = [], once } = command
  const streams = [...(once === undefined ? [] : [once.stream]), ...diamonds.map(diamondStream)]
  const onRetry = (error: unknown) => context.outcomes.countRetry(ANY_DIAMOND, error)
  return context.queue.runAll(streams, () =>
    context.outcomes.track(ANY_DIAMOND, () =>
      withRetry({ on: [WrongRevision], onRetry }, () => attemptBulk(context, command)),
    ),
  )
}

/** What outcomes are counted under. */
const ANY_DIAMOND = diamondStream(0)

async function attemptBulk<Told extends object>(
  context: CommandContext,
  { origin, once, decide }: BulkCommand<Told>,
): Promise<BulkResult<Told>> {
  const { stateCache, clock } = context
  const existing = once && (await readExistingRecord(context, once))
  if (once !== undefined && existing?.done !== undefined)
    return once.replay(existing.done.diamonds, existing.done.position)
  const now = clock()
  const { decisions, result } = await decide(now)
  const decided = decisions.filter(({ events }) => events.length > 0)
  const at = decided.reduce((latest, one) => Math.max(latest, one.at), now)
  const base = toEventMetadata(origin, at)
  const appends = decided.map(({ stream, expected, events }): Append => {
    if (expected !== 'none') stateCache.invalidate(stream)
    const stamped = ({ type, data }: DiamondEvent) => ({
      id: randomUUID(),
      type,
      data,
      metadata: withEventVersion(base, type),
    })
    return { stream, expected, events: events.map(stamped) }
  })
  const isRecorded = once !== undefined && (appends.length > 0 || once.recordsNoChange === true)
  if (appends.length === 0 && !isRecorded) return { ...result, position: undefined }
  const record = isRecorded ? { ...once, expected: existing?.revision ?? ('none' as const) } : undefined
  const diamonds = decided.map(({ stream }) => diamondIdOfStream(stream))
  return {
    ...result,
    position: await appendAtomically(context, { diamonds, appends, metadata: base }, record),
  }
}

type ExistingRecord = {
  readonly revision: Revision
  readonly done?: { readonly diamonds: readonly number[]; readonly position: Position }
}

/** What is on record of the wish. @throws Refusal invalid for another body */
async function readExistingRecord(context: CommandContext, once: RequestRecord): Promise<ExistingRecord> {
  const { revision, existing } = await readRecord(context, once)
  if (existing?.type === 'RequestDone') {
    const { diamonds } = requireSameBody(decode<RequestDone>(existing), once.body)
    return { revision, done: { diamonds, position: existing.position } }
  }
  if (existing !== undefined) {
    requireSameBody(decode<RequestAccepted>(existing), once.body)
    if ((await finishBulk(context, once.stream)) !== undefined) return readExistingRecord(context, once)
  }
  return { revision }
}
