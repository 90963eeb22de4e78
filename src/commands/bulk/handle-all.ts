import { randomUUID } from 'node:crypto'
import type { RequestAccepted, RequestDone } from '../../domain/bulk/bulk.ts'
import { diamondDecider, diamondIn, diamondStream, type DiamondEvent } from '../../domain/diamond/diamond.ts'
import { decode } from '../../events/decode.ts'
import { eventId, metadata, timeOf, type Origin } from '../../events/origin.ts'
import {
  WrongRevision,
  type Append,
  type NewEvent,
  type Position,
  type Revision,
  type StoredEvent,
} from '../../stores/ports/event-store.ts'
import { appendAll, latest, versioned } from '../core/append.ts'
import { after, type Writing } from '../core/handle.ts'
import { foldEvents } from '../../events/load.ts'
import { retrying } from '../core/retry.ts'
import {
  acceptedWork,
  bulkStream,
  digestOf,
  partsOf,
  readRecord,
  sameBody,
  type Bulk,
  type Changes,
  type RequestRecord,
  type Work,
} from './request.ts'

/** Where a record stands: the revision that it has. */
type RecordAt = Pick<Bulk, 'stream' | 'body' | 'expected'>

/**
 * Makes all of the changes and the record of them, or nothing. Where the store can't write them at once, it is first told
 * what is going to be written: another process can finish it later, also after a crash.
 * @param record without one, only a store that can't write them at once needs any
 * @throws WrongRevision of a changed stream where the store writes all at once, else of the record only, and nothing
 *   is written then; OutcomeUnknown, StoreUnavailable: it may be carried out later
 */
async function writeTogether(writing: Writing, changes: Changes, record?: RecordAt): Promise<Position | undefined> {
  const { store } = writing
  const { appends, diamonds, metadata } = changes
  if (store.atomicMany || appends.length === 0 || (appends.length === 1 && record === undefined)) {
    // Another process's try of the same request must not pass for a repeat of this one.
    const done = (body: string) => doneEvent({ body, diamonds }, randomUUID(), metadata)
    const recorded = record && { stream: record.stream, expected: record.expected, events: [done(record.body)] }
    return appendAll(writing, recorded === undefined ? appends : [...appends, recorded])
  }
  const unnamed = { stream: bulkStream(randomUUID()), body: digestOf(diamonds), expected: 'none' as const }
  const bulk = { ...changes, ...(record ?? unnamed) }
  const { stream, expected } = bulk
  const accepted = partsOf(bulk)
  await appendAll(writing, [{ stream, expected, events: accepted }])
  return finish(writing, bulk, after(expected, accepted.length))
}

/**
 * Finishes what was accepted and is not done; the same changes are made once, however many processes do so.
 * @returns undefined when there is nothing to finish
 * @throws OutcomeUnknown, StoreUnavailable
 */
export async function finishBulk(writing: Writing, stream: string): Promise<Position | undefined> {
  const found = acceptedWork(await writing.store.read(stream))
  return found && finish(writing, found.work, found.revision)
}

async function finish(writing: Writing, work: Work, revision: bigint): Promise<Position | undefined> {
  const { stream, metadata, appends } = work
  const applied = await applyChanges(writing, appends)
  const at = new Date(Math.max(writing.clock(), timeOf({ metadata }))).toISOString()
  // The same id in every process, so that a second one is a repeat.
  const done = doneEvent(work, eventId(`${stream}/${revision}/done`, 0), { ...metadata, at })
  return latest([applied, await appendAll(writing, [{ stream, expected: revision, events: [done] }])])
}

function doneEvent({ body, diamonds }: RequestDone['data'], id: string, metadata: NewEvent['metadata']): NewEvent {
  return { id, type: 'RequestDone', data: { body, diamonds }, metadata: versioned(metadata, 'RequestDone') }
}

/**
 * Makes changes that were accepted, each once. A diamond that was changed by somebody else meanwhile is changed on top
 * of that; one that was deleted meanwhile stays so, as if the change had come before.
 * @throws OutcomeUnknown, StoreUnavailable
 */
async function applyChanges(writing: Writing, appends: readonly Append[]): Promise<Position | undefined> {
  try {
    return await appendAll(writing, appends)
  } catch (error) {
    if (!(error instanceof WrongRevision)) throw error
  }
  return latest(await Promise.all(appends.map((append) => applyOne(writing, append))))
}

function applyOne({ store }: Writing, append: Append): Promise<Position | undefined> {
  const { expected } = append
  // What is in the way of a new diamond does not go away.
  return retrying({ on: expected === 'none' ? [] : [WrongRevision] }, async () => {
    const stored = await store.read(append.stream)
    const own = ownOf(stored, append)
    if (own !== undefined) return own.position
    const last = stored.at(-1)
    if (expected === 'none' && last !== undefined) throw new WrongRevision(append.stream, expected, last.revision)
    if (expected !== 'none' && foldEvents(diamondDecider, stored).status !== 'live') return undefined
    return store.append(append.stream, last?.revision ?? 'none', notBefore(last, append.events))
  })
}

/** The last event of the change, where it is in the stream. */
function ownOf(stored: readonly StoredEvent[], { events }: Append): StoredEvent | undefined {
  const last = events.at(-1)
  return stored.find(({ id }) => id === last?.id)
}

/** Time does not go back within a stream: both are UTC, to the millisecond, and so compare as texts. */
function notBefore(last: StoredEvent | undefined, events: Append['events']): Append['events'] {
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
export type DecidedAll<Told> = { readonly decisions: readonly DiamondDecision[]; readonly told: Told }

export type Answered<Told> = Told & { readonly position: Position | undefined }

/** Says that a request was carried out, and keeps it from being carried out twice. */
export type Once<Told> = RequestRecord & {
  /** Whether there is a record where nothing had to be written. */
  readonly ofNothing?: boolean
  /** The answer to a repeat, by the diamonds of the record and where that stands. */
  readonly again: (diamonds: readonly number[], position: Position) => Promise<Answered<Told>>
}

export type WishOnAll<Told> = {
  readonly origin: Origin
  /** Diamonds that exist: other commands of this process on them wait. */
  readonly diamonds?: readonly number[]
  readonly once?: Once<Told>
  /** Loads what it needs, and decides; may run several times. @param now milliseconds since 1970 */
  readonly decide: (now: number) => Promise<DecidedAll<Told>>
}

/**
 * Decides on several diamonds and writes all of it or nothing, with a record of it where the wish has one: a repeat finds
 * the record, one that comes meanwhile waits for it, and what another process began and did not end is finished first. What
 * is refused leaves no record. Where another process was first, it is decided again.
 * @throws Refusal invalid where the record is of another body; what `decide` and `again` throw; WrongRevision after the last
 *   try, OutcomeUnknown, StoreUnavailable
 */
export function handleAll<Told extends object>(writing: Writing, wish: WishOnAll<Told>): Promise<Answered<Told>> {
  const { diamonds = [], once } = wish
  const streams = [...(once === undefined ? [] : [once.stream]), ...diamonds.map(diamondStream)]
  const failed = (error: unknown) => writing.outcomes.retried(ANY_DIAMOND, error)
  return writing.queue.runAll(streams, () =>
    writing.outcomes.of(ANY_DIAMOND, () => retrying({ on: [WrongRevision], failed }, () => tried(writing, wish))),
  )
}

/** What outcomes are counted under. */
const ANY_DIAMOND = diamondStream(0)

async function tried<Told extends object>(
  writing: Writing,
  { origin, once, decide }: WishOnAll<Told>,
): Promise<Answered<Told>> {
  const { states, clock } = writing
  const before = once && (await recordBefore(writing, once))
  if (once !== undefined && before?.done !== undefined) return once.again(before.done.diamonds, before.done.position)
  const now = clock()
  const { decisions, told } = await decide(now)
  const decided = decisions.filter(({ events }) => events.length > 0)
  const at = decided.reduce((latest, one) => Math.max(latest, one.at), now)
  const base = metadata(origin, at)
  const appends = decided.map(({ stream, expected, events }): Append => {
    if (expected !== 'none') states.forget(stream)
    const stamped = ({ type, data }: DiamondEvent) => ({
      id: randomUUID(),
      type,
      data,
      metadata: versioned(base, type),
    })
    return { stream, expected, events: events.map(stamped) }
  })
  const isRecorded = once !== undefined && (appends.length > 0 || once.ofNothing === true)
  if (appends.length === 0 && !isRecorded) return { ...told, position: undefined }
  const record = isRecorded ? { ...once, expected: before?.revision ?? ('none' as const) } : undefined
  const diamonds = decided.map(({ stream }) => diamondIn(stream))
  return {
    ...told,
    position: await writeTogether(writing, { diamonds, appends, metadata: base }, record),
  }
}

type RecordBefore = {
  readonly revision: Revision
  readonly done?: { readonly diamonds: readonly number[]; readonly position: Position }
}

/** What is on record of the wish. @throws Refusal invalid for another body */
async function recordBefore(writing: Writing, once: RequestRecord): Promise<RecordBefore> {
  const { revision, kept } = await readRecord(writing, once)
  if (kept?.type === 'RequestDone') {
    const { diamonds } = sameBody(decode<RequestDone>(kept), once.body)
    return { revision, done: { diamonds, position: kept.position } }
  }
  if (kept !== undefined) {
    sameBody(decode<RequestAccepted>(kept), once.body)
    if ((await finishBulk(writing, once.stream)) !== undefined) return recordBefore(writing, once)
  }
  return { revision }
}
