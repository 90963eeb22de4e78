import { diamondDecider } from '../../domain/diamond/diamond.ts'
import { randomUUID } from 'node:crypto'
import type { RequestDone } from '../../domain/bulk/bulk.ts'
import { eventId } from '../../events/event-id.ts'
import {
  WrongRevision,
  type Append,
  type NewEvent,
  type Position,
  type StoredEvent,
} from '../../stores/ports/event-store.ts'
import { appendAll, latest } from '../core/append-all.ts'
import { after, type Writing } from '../core/handle.ts'
import { foldEvents, timeOf } from '../core/load.ts'
import { versioned } from '../core/stamp.ts'
import { retrying } from '../core/retry.ts'
import { acceptedWork, bulkStream, digestOf, partsOf, type Bulk, type Changes, type Work } from './request.ts'

/** Where a record stands: the revision that it has. */
type RecordAt = Pick<Bulk, 'stream' | 'body' | 'expected'>

/**
 * Makes all of the changes and the record of them, or nothing. Where the store can't write them at once, it is first told
 * what is going to be written: who comes later, after a crash too, finishes it.
 * @param record without one, only a store that can't write them at once needs any
 * @throws WrongRevision of a changed stream where the store writes all at once, else of the record only, and nothing
 *   is written then; OutcomeUnknown, StoreUnavailable: it may be carried out later
 */
export async function writeTogether(
  writing: Writing,
  changes: Changes,
  record?: RecordAt,
): Promise<Position | undefined> {
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
 * Finishes what was accepted and is not done; the same changes are made once, whoever else is at it.
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
  // The same, whoever writes it, so that a second one is a repeat.
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
