import { randomUUID } from 'node:crypto'
import type { PlannedStreamAppend, RequestAccepted } from '../../domain/bulk/bulk.ts'
import { diamondFold } from '../../domain/diamond/diamond.ts'
import { decode } from '../../events/decode.ts'
import { eventId, eventTimeOf, FIRST_PAYLOAD_VERSION } from '../../events/event-metadata.ts'
import { foldEvents } from '../../events/load-stream.ts'
import {
  EventsRemoved,
  WrongRevision,
  type Append,
  type NewEvent,
  type Position,
  type Revision,
  type StoredEvent,
} from '../../stores/ports/event-store.ts'
import { appendAll, latestPosition, revisionAfter, withEventVersion, withSchema } from '../core/append.ts'
import type { CommandContext } from '../core/command-context.ts'
import { withRetry } from '../core/retry.ts'
import { canonicalDigest, requestDoneEvent, requestStream, type RequestRecord } from './request-record.ts'

/**
 * Writes a bulk on a store that can't append to several streams at once: first the request is accepted, with all of its
 * changes, in one append; then the changes are applied; then the request is marked as done. Once it is accepted, any
 * process can complete it, also after a crash.
 * @param record of the request; without one the request gets a stream with a random name
 * @throws WrongRevision of the record, and nothing is written then; OutcomeUnknown or StoreUnavailable, and the request
 *   may be completed later
 */
export async function acceptAndApply(
  context: CommandContext,
  changes: BulkChanges,
  record: BulkRecord = {
    stream: requestStream(randomUUID()),
    body: canonicalDigest(changes.diamonds),
    expected: 'none',
  },
): Promise<Position | undefined> {
  const bulk = { ...changes, ...record }
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
  const pending = findAcceptedBulk(await context.store.readStream(stream))
  return pending && applyAndComplete(context, pending.bulk, pending.revision)
}

export type BulkChanges = {
  readonly diamonds: readonly number[]
  readonly appends: readonly Append[]
  /** Metadata of every event, except for the version of its payload. */
  readonly metadata: NewEvent['metadata']
}

/** The record of the request, and its stream's revision before the bulk. */
export type BulkRecord = Pick<RequestRecord, 'stream' | 'body'> & { readonly expected: Revision }

type AcceptedBulk = BulkChanges & Omit<BulkRecord, 'expected'>

async function applyAndComplete(
  context: CommandContext,
  bulk: AcceptedBulk,
  revision: bigint,
): Promise<Position | undefined> {
  const { stream, metadata, appends } = bulk
  const changesPosition = await applyChanges(context, appends)
  const at = new Date(Math.max(context.clock(), eventTimeOf({ metadata }))).toISOString()
  // The id is the same in every process, so that the store recognises a second append as a repeat.
  const done = requestDoneEvent(bulk, eventId(`${stream}/${revision}/done`, 0), { ...metadata, at })
  return latestPosition([changesPosition, await appendAll(context, [{ stream, expected: revision, events: [done] }])])
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

/** Characters of changes per event, well below EventStoreDB's limit of 1 MiB. */
const MAX_PART_CHARACTERS = 250_000

export function requestAcceptedEvents({
  stream,
  expected,
  body,
  diamonds,
  appends,
  metadata,
}: BulkChanges & BulkRecord): NewEvent[] {
  const parts = splitIntoParts(appends.map(toAcceptedChange))
  return parts.map((changes, index) => {
    const data: RequestAccepted['data'] = { body, diamonds, part: index + 1, parts: parts.length, changes }
    // The first change's event id makes it unique: another attempt at the same bulk has different changes.
    const id = eventId(`${stream}/${expected}/${appends[0]?.events[0]?.id}`, index)
    return { id, type: 'RequestAccepted', data, metadata: withEventVersion(metadata, 'RequestAccepted') }
  })
}

function splitIntoParts(changes: readonly PlannedStreamAppend[]): PlannedStreamAppend[][] {
  const parts: PlannedStreamAppend[][] = []
  let length = Number.POSITIVE_INFINITY
  for (const change of changes) {
    const changeLength = JSON.stringify(change).length
    if (length + changeLength > MAX_PART_CHARACTERS) {
      parts.push([])
      length = 0
    }
    parts.at(-1)?.push(change)
    length += changeLength
  }
  return parts
}

/** The accepted but not completed bulk in a request's stream, if any, with the revision of the stream. */
function findAcceptedBulk(events: readonly StoredEvent[]): { bulk: AcceptedBulk; revision: bigint } | undefined {
  const last = events.at(-1)
  if (last?.type !== 'RequestAccepted') return undefined
  const { parts } = decode<RequestAccepted>(last).data
  const acceptedParts = events.slice(-parts).map((event) => decode<RequestAccepted>(event).data)
  if (acceptedParts.length < parts || acceptedParts.some(({ part }, index) => part !== index + 1)) return undefined
  const { stream, metadata, revision } = last
  const { body = '', diamonds = [] } = acceptedParts[0] ?? {}
  const appends = acceptedParts.flatMap(({ changes }) => changes.map((change) => fromAcceptedChange(change, metadata)))
  return { bulk: { stream, body, diamonds, appends, metadata }, revision }
}

const toAcceptedChange = ({ stream, expected, events }: Append): PlannedStreamAppend => ({
  stream,
  expected: expected === 'none' ? null : Number(expected),
  events: events.map(({ id, type, data, metadata }) => ({
    id,
    type,
    schema: metadata['schema'] ?? FIRST_PAYLOAD_VERSION,
    data,
  })),
})

const fromAcceptedChange = (
  { stream, expected, events }: PlannedStreamAppend,
  metadata: NewEvent['metadata'],
): Append => ({
  stream,
  expected: expected === null ? 'none' : BigInt(expected),
  events: events.map(({ id, type, schema, data }) => ({
    id,
    type,
    data,
    metadata: withSchema(metadata, schema ?? FIRST_PAYLOAD_VERSION),
  })),
})
