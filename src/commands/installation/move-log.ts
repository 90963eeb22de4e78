import {
  type CopyAbandoned,
  type CopyBegun,
  type CopyDone,
  type LogFenced,
  type LogOpened,
  type ReplayMade,
} from '../../domain/installation/log-lifecycle.ts'
import { readOnlyStateOf, COPY_STREAM, LOG_STREAM } from '../../domain/installation/read-only-state.ts'
import { OutcomeUnknown, WrongRevision, type EventStore, type StoredEvent } from '../../stores/ports/event-store.ts'
import { eventId, type Origin } from '../../events/event-metadata.ts'
import { withRetry } from '../core/retry.ts'
import { createEventFactory } from '../core/append.ts'

type LogMoveEvent = LogFenced | LogOpened | CopyBegun | CopyDone | CopyAbandoned | ReplayMade

/**
 * The steps of moving an installation. Each is appended at an expected revision, so that of two conflicting steps one
 * fails.
 */
export type LogMoveContext = { readonly origin: Origin; readonly clock: () => number }

/** Marks the target log as incomplete, from its first event on. @throws WrongRevision */
export const beginCopy = (context: LogMoveContext, target: EventStore, data: CopyBegun['data']) =>
  append(context, target, COPY_STREAM, undefined, { type: 'CopyBegun', data })

/** Closes the source log for appends in every process. Idempotent. @throws WrongRevision */
export async function fenceLog(context: LogMoveContext, source: EventStore, data: LogFenced['data']): Promise<void> {
  const last = await readLastEvent(source, LOG_STREAM)
  if (isMoveEvent(last, 'LogFenced', data.copy)) return
  await append(context, source, LOG_STREAM, last, { type: 'LogFenced', data })
}

/** The copy was already completed or abandoned; `eventType` says which. */
export class CopyEnded extends Error {
  override readonly name = 'CopyEnded'
  constructor(readonly eventType: 'CopyDone' | 'CopyAbandoned') {
    super(eventType === 'CopyDone' ? 'This copy is complete' : 'This copy was abandoned')
  }
}

/** Marks the target log as complete and opens it for appends. @throws CopyEnded if the copy was abandoned */
export async function finishCopy(context: LogMoveContext, target: EventStore, data: CopyDone['data']): Promise<void> {
  await endCopy(context, target, { type: 'CopyDone', data })
  await openLog(context, target, data.copy)
}

/** Makes a log that was filled up to a moment permanently read-only. @throws WrongRevision */
export async function closeReplay(
  context: LogMoveContext,
  target: EventStore,
  data: ReplayMade['data'],
): Promise<void> {
  const last = await readLastEvent(target, COPY_STREAM)
  if (last?.type !== 'ReplayMade') await append(context, target, COPY_STREAM, last, { type: 'ReplayMade', data })
}

/** Marks the copy as abandoned: it can't be completed any more. @throws CopyEnded if it was completed */
export const abandonCopy = (context: LogMoveContext, target: EventStore, copy: string): Promise<void> =>
  endCopy(context, target, { type: 'CopyAbandoned', data: { copy } })

/** Appends directly after CopyBegun and nowhere else, so that of two concurrent endings only the first is stored. */
async function endCopy(context: LogMoveContext, target: EventStore, endEvent: CopyDone | CopyAbandoned): Promise<void> {
  const [beginEvent, recordedEnd] = await target.readStream(COPY_STREAM)
  if (recordedEnd?.type === endEvent.type) return
  if (recordedEnd !== undefined) throw new CopyEnded(recordedEnd.type === 'CopyDone' ? 'CopyDone' : 'CopyAbandoned')
  try {
    await append(context, target, COPY_STREAM, beginEvent, endEvent)
  } catch (error) {
    if (!(error instanceof WrongRevision)) throw error
    await endCopy(context, target, endEvent)
  }
}

/** Reopens a log that this copy has fenced; does nothing for any other log. */
export async function openLog(context: LogMoveContext, store: EventStore, copy: string): Promise<void> {
  const last = await readLastEvent(store, LOG_STREAM)
  if (readOnlyStateOf(last, []) === undefined || !isMoveEvent(last, 'LogFenced', copy)) return
  await append(context, store, LOG_STREAM, last, { type: 'LogOpened', data: { copy } })
}

const isMoveEvent = (event: StoredEvent | undefined, type: LogMoveEvent['type'], copy: string) =>
  event?.type === type && event.data['copy'] === copy

const readLastEvent = async (store: EventStore, stream: string) => (await store.readStream(stream, { last: 1 })).at(-1)

async function append(
  { origin, clock }: LogMoveContext,
  store: EventStore,
  stream: string,
  last: StoredEvent | undefined,
  { type, data }: LogMoveEvent,
): Promise<void> {
  const revision = last === undefined ? -1n : last.revision
  const id = eventId(`${data.copy}/${type}`, Number(revision + 1n))
  const event = createEventFactory(origin, clock())(id, { type, data })
  // The event id is deterministic, so the store recognises a retry.
  await withRetry({ on: [OutcomeUnknown] }, () => store.append(stream, last?.revision ?? 'none', [event]))
}
