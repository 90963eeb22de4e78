import { createHash } from 'node:crypto'
import { IDEMPOTENCY_KEY_TTL_MS, type PlannedStreamAppend, type RequestAccepted } from '../../domain/bulk/bulk.ts'
import { RequestError } from '../../domain/decider.ts'
import { decode } from '../../events/decode.ts'
import { eventId, FIRST_PAYLOAD_VERSION, eventTimeOf } from '../../events/event-metadata.ts'
import type { Append, NewEvent, Revision, StoredEvent } from '../../stores/ports/event-store.ts'
import type { CommandContext } from '../core/handle.ts'
import { withEventVersion, withSchema } from '../core/append.ts'

/** An Idempotency-Key is a caller's name for what it asks for: it counts per account, method and path. */
export type IdempotencyKey = { readonly key: string; readonly method: string; readonly path: string }

export type KeyedRequest = IdempotencyKey & {
  readonly owner: number
  /** What was read from the body and is going to be done. */
  readonly body: unknown
}

/** The record of a request: `request-{hash}`, and a digest of what was asked for. */
export type RequestRecord = {
  readonly stream: string
  readonly body: string
  /** Milliseconds that it counts; for good unless told. */
  readonly life?: number
}

/** The record of what is asked for by a key. */
export const requestRecordOf = ({ owner, method, path, key, body }: KeyedRequest): RequestRecord => ({
  stream: requestStream(owner, method, path, key),
  body: canonicalDigest(body),
  life: IDEMPOTENCY_KEY_TTL_MS,
})

/** The newest event of a record; `kept` where it still counts. @throws StoreUnavailable */
export async function readRecord(
  { store, clock }: Pick<CommandContext, 'store' | 'clock'>,
  { stream, life = Infinity }: Pick<RequestRecord, 'stream' | 'life'>,
): Promise<{ readonly revision: Revision; readonly existing: StoredEvent | undefined }> {
  const [last] = await store.read(stream, { last: 1 })
  const isValid = last !== undefined && clock() - eventTimeOf(last) < life
  return { revision: last?.revision ?? 'none', existing: isValid ? last : undefined }
}

/** @throws Refusal invalid for another body */
export function requireSameBody<Data extends { readonly body: string }>(
  { data }: { readonly data: Data },
  body: string,
): Data {
  if (data.body === body) return data
  throw new RequestError('invalid', 'This Idempotency-Key was used for another body; take a new key for a new request')
}

/** Changes that belong together. */
export type BulkChanges = {
  readonly diamonds: readonly number[]
  readonly appends: readonly Append[]
  /** Of every event, but for the version of its payload. */
  readonly metadata: NewEvent['metadata']
}

/** Changes, the record that says what has become of them, and the revision that it has. */
export type Bulk = BulkChanges & Pick<RequestRecord, 'stream' | 'body'> & { readonly expected: Revision }

/** What has to be done of a bulk, whoever does it. */
export type BulkWork = Omit<Bulk, 'expected'>

/** The stream of what was wanted once, by all that makes it this. */
export const requestStream = (...names: readonly unknown[]): string => `request-${sha256(JSON.stringify(names))}`

/** Of a parsed body: the order of members and white space don't count. */
export const canonicalDigest = (body: unknown): string => sha256(JSON.stringify(sortKeys(body)))

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, member]) => [name, sortKeys(member)]),
  )
}

/** Characters of one part's changes, well within the mebibyte that an event of EventStoreDB may have. */
const MAX_PART_CHARACTERS = 250_000

/** The events that say what a bulk is going to write. */
export function requestAcceptedEvents({ stream, expected, body, diamonds, appends, metadata }: Bulk): NewEvent[] {
  const parts = splitIntoParts(appends.map(toAcceptedChange))
  return parts.map((changes, index) => {
    const data: RequestAccepted['data'] = { body, diamonds, part: index + 1, parts: parts.length, changes }
    // Another try of the same bulk has other changes: it must not be taken for this one.
    const id = eventId(`${stream}/${expected}/${appends[0]?.events[0]?.id}`, index)
    return { id, type: 'RequestAccepted', data, metadata: withEventVersion(metadata, 'RequestAccepted') }
  })
}

/** What a bulk's stream says is accepted and not done, and its revision; undefined when there is nothing like that. */
export function findPendingWork(events: readonly StoredEvent[]): { work: BulkWork; revision: bigint } | undefined {
  const last = events.at(-1)
  if (last?.type !== 'RequestAccepted') return undefined
  const { parts } = decode<RequestAccepted>(last).data
  const datas = events.slice(-parts).map((event) => decode<RequestAccepted>(event).data)
  if (datas.length < parts || datas.some(({ part }, index) => part !== index + 1)) return undefined
  const { stream, metadata, revision } = last
  const { body = '', diamonds = [] } = datas[0] ?? {}
  const appends = datas.flatMap(({ changes }) => changes.map((change) => fromAcceptedChange(change, metadata)))
  return { work: { stream, body, diamonds, appends, metadata }, revision }
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

function splitIntoParts(changes: readonly PlannedStreamAppend[]): PlannedStreamAppend[][] {
  const parts: PlannedStreamAppend[][] = []
  let length = Number.POSITIVE_INFINITY
  for (const change of changes) {
    const more = JSON.stringify(change).length
    if (length + more > MAX_PART_CHARACTERS) {
      parts.push([])
      length = 0
    }
    parts.at(-1)?.push(change)
    length += more
  }
  return parts
}
