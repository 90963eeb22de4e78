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
import { timeOf } from '../core/load.ts'
import { versioned } from '../core/stamp.ts'
import { pause } from '../core/tries.ts'
import { acceptedWork, bulkStream, digestOf, partsOf, type Bulk, type Work } from './bulk.ts'
import { evolve, unknown, type Diamond, type DiamondEvent } from '../../domain/diamond/diamond.ts'
import { decode } from '../../events/decode.ts'

/**
 * Makes all of the changes, or none. Where the store can't write them at once, it is first told what is going to be
 * written: who comes later, after a crash too, finishes it.
 * @throws WrongRevision of a changed stream where the store writes all at once, else of the bulk's only, and nothing
 *   is written then; OutcomeUnknown, StoreUnavailable: it may be carried out later
 */
export async function carryOut(writing: Writing, bulk: Bulk): Promise<Position | undefined> {
  const { store } = writing
  const { stream, expected, appends, metadata } = bulk
  if (store.atomicMany || appends.length === 0) {
    // Another process's try of the same bulk must not pass for a repeat of this one.
    const done = doneEvent(bulk, randomUUID(), metadata)
    return appendAll(store, [...appends, { stream, expected, events: [done] }])
  }
  const accepted = partsOf(bulk)
  await appendAll(store, [{ stream, expected, events: accepted }])
  return finish(writing, bulk, after(expected, accepted.length))
}

/** What one command changes, without a stream that says so. */
export type Together = Pick<Bulk, 'diamonds' | 'appends' | 'metadata'>

/** The same for changes that nobody asked for by a key: only a store that can't write them at once needs a record. */
export async function appendTogether(writing: Writing, changes: Together): Promise<Position | undefined> {
  const { appends, diamonds } = changes
  if (writing.store.atomicMany || appends.length <= 1) return appendAll(writing.store, appends)
  return carryOut(writing, { ...changes, stream: bulkStream(randomUUID()), expected: 'none', body: digestOf(diamonds) })
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
  return latest([applied, await appendAll(writing.store, [{ stream, expected: revision, events: [done] }])])
}

function doneEvent({ body, diamonds }: Work, id: string, metadata: NewEvent['metadata']): NewEvent {
  const data: RequestDone['data'] = { body, diamonds }
  return { id, type: 'RequestDone', data, metadata: versioned(metadata, 'RequestDone') }
}

/** Only other commands on the same stream come between, and each of them is done after a while. */
const ATTEMPTS = 20

/**
 * Makes changes that were accepted, each once. A diamond that was changed by somebody else meanwhile is changed on top
 * of that; one that was deleted meanwhile stays so, as if the change had come before.
 * @throws OutcomeUnknown, StoreUnavailable
 */
async function applyChanges(writing: Writing, appends: readonly Append[]): Promise<Position | undefined> {
  try {
    return await appendAll(writing.store, appends)
  } catch (error) {
    if (!(error instanceof WrongRevision)) throw error
  }
  return latest(await Promise.all(appends.map((append) => applyOne(writing, append))))
}

async function applyOne(writing: Writing, append: Append): Promise<Position | undefined> {
  for (let attempt = 1; ; attempt++) {
    const stored = await writing.store.read(append.stream)
    const own = ownOf(stored, append)
    if (own !== undefined) return own.position
    if (append.expected !== 'none' && diamondOf(stored).status !== 'live') return undefined
    const last = stored.at(-1)
    try {
      return await writing.store.append(append.stream, last?.revision ?? 'none', notBefore(last, append.events))
    } catch (error) {
      if (!(error instanceof WrongRevision) || append.expected === 'none' || attempt === ATTEMPTS) throw error
      await pause(Math.min(attempt, 5))
    }
  }
}

/** The last event of the change, where it is in the stream. */
function ownOf(stored: readonly StoredEvent[], { events }: Append): StoredEvent | undefined {
  const last = events.at(-1)
  return stored.find(({ id }) => id === last?.id)
}

const diamondOf = (stored: readonly StoredEvent[]): Diamond =>
  stored.reduce((diamond, event) => evolve(diamond, decode<DiamondEvent>(event)), unknown)

/** Time does not go back within a stream: both are UTC, to the millisecond, and so compare as texts. */
function notBefore(last: StoredEvent | undefined, events: Append['events']): Append['events'] {
  const least = last?.metadata['at'] ?? ''
  return events.map((event) => {
    const at = event.metadata['at'] ?? ''
    return at >= least ? event : { ...event, metadata: { ...event.metadata, at: least } }
  })
}
