import { randomUUID } from 'node:crypto'
import type { RequestDone } from '../../domain/bulk/request.ts'
import type { Append, NewEvent, Position, Revision } from '../../stores/ports/event-store.ts'
import { appendAll, latest } from '../core/append-all.ts'
import { acceptedChanges, partsOf } from './accepted-request.ts'
import { applyChanges } from './apply-changes.ts'
import { eventId } from '../../events/event-id.ts'
import { after, type Writing } from '../core/handle.ts'
import { digestOf, requestStream } from './request-stream.ts'
import { versioned } from '../core/stamp.ts'

/** Changes that belong together, and the stream that says what has become of them. */
export type Request = {
  /** `request-{hash}`, and the revision that it has. */
  readonly stream: string
  readonly expected: Revision
  readonly body: string
  readonly diamonds: readonly number[]
  readonly appends: readonly Append[]
  /** Of every event, but for the version of its payload. */
  readonly metadata: NewEvent['metadata']
}

/**
 * Makes all of the changes, or none. Where the store can't write them at once, it is first told what is going to be
 * written: who comes later, after a crash too, finishes it.
 * @throws WrongRevision of a changed stream where the store writes all at once, else of the request's only, and nothing
 *   is written then; OutcomeUnknown, StoreUnavailable: it may be carried out later
 */
export async function carryOut(writing: Writing, request: Request): Promise<Position | undefined> {
  const { store } = writing
  const { stream, expected, appends, metadata } = request
  if (store.atomicMany) {
    // Another process's try of the same request must not pass for a repeat of this one.
    const done = doneEvent(request, randomUUID(), metadata)
    return appendAll(store, [...appends, { stream, expected, events: [done] }])
  }
  const accepted = partsOf(request)
  await appendAll(store, [{ stream, expected, events: accepted }])
  return finish(writing, request, after(expected, accepted.length))
}

/**
 * The same for changes that nobody asked for by a key: only a store that can't write them at once needs a record.
 * @param command names the wish
 */
export async function appendTogether(
  writing: Writing,
  command: string,
  changes: Pick<Request, 'diamonds' | 'appends' | 'metadata'>,
): Promise<Position | undefined> {
  const { appends, diamonds } = changes
  if (writing.store.atomicMany || appends.length <= 1) return appendAll(writing.store, appends)
  return carryOut(writing, { ...changes, stream: requestStream(command), expected: 'none', body: digestOf(diamonds) })
}

/**
 * Finishes what was accepted and is not done; the same changes are made once, whoever else is at it.
 * @returns undefined when there is nothing to finish
 * @throws OutcomeUnknown, StoreUnavailable
 */
export async function finishRequest(writing: Writing, stream: string): Promise<Position | undefined> {
  const found = acceptedChanges(await writing.store.read(stream))
  return found && finish(writing, { stream, ...found.request }, found.revision)
}

async function finish(
  writing: Writing,
  request: Omit<Request, 'expected'>,
  revision: bigint,
): Promise<Position | undefined> {
  const { stream, metadata, appends } = request
  const applied = await applyChanges(writing, appends)
  const at = new Date(Math.max(writing.clock(), Date.parse(metadata['at'] ?? '') || 0)).toISOString()
  // The same, whoever writes it, so that a second one is a repeat.
  const done = doneEvent(request, eventId(`${stream}/${revision}/done`, 0), { ...metadata, at })
  return latest([applied, await appendAll(writing.store, [{ stream, expected: revision, events: [done] }])])
}

function doneEvent(
  { body, diamonds }: Omit<Request, 'expected'>,
  id: string,
  metadata: NewEvent['metadata'],
): NewEvent {
  const data: RequestDone['data'] = { body, diamonds }
  return { id, type: 'RequestDone', data, metadata: versioned(metadata, 'RequestDone') }
}
