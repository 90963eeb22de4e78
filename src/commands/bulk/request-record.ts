import { createHash } from 'node:crypto'
import { IDEMPOTENCY_KEY_TTL_MS, type PlannedStreamAppend, type RequestAccepted } from '../../domain/bulk/bulk.ts'
import { RequestError } from '../../domain/request-error.ts'
import { decode } from '../../events/decode.ts'
import { eventId, FIRST_PAYLOAD_VERSION, eventTimeOf } from '../../events/event-metadata.ts'
import type { Append, NewEvent, Revision, StoredEvent } from '../../stores/ports/event-store.ts'
import type { CommandContext } from '../core/handle.ts'
import { withEventVersion, withSchema } from '../core/append.ts'

/** Idempotency keys are scoped to account, method and path. */
export type IdempotencyKey = { readonly key: string; readonly method: string; readonly path: string }

export type KeyedRequest = IdempotencyKey & {
  readonly owner: number
  /** The parsed body, as it is going to be executed. */
  readonly body: unknown
}

/** Identifies the record of a request: its stream `request-{hash}` and a digest of the body. */
export type RequestRecord = {
  readonly stream: string
  readonly body: string
  /** Milliseconds for which the record is valid. Default: no limit. */
  readonly ttlMs?: number
}

export const requestRecordOf = ({ owner, method, path, key, body }: KeyedRequest): RequestRecord => ({
  stream: requestStream(owner, method, path, key),
  body: canonicalDigest(body),
  ttlMs: IDEMPOTENCY_KEY_TTL_MS,
})

/** The latest event of a record; `existing` is undefined once the record has expired. @throws StoreUnavailable */
export async function readRecord(
  { store, clock }: Pick<CommandContext, 'store' | 'clock'>,
  { stream, ttlMs = Infinity }: Pick<RequestRecord, 'stream' | 'ttlMs'>,
): Promise<{ readonly revision: Revision; readonly existing: StoredEvent | undefined }> {
  const [last] = await store.readStream(stream, { last: 1 })
  const isValid = last !== undefined && clock() - eventTimeOf(last) < ttlMs
  return { revision: last?.revision ?? 'none', existing: isValid ? last : undefined }
}

/** @throws RequestError 'invalid' if the bodies differ */
export function requireSameBody<Data extends { readonly body: string }>(
  { data }: { readonly data: Data },
  body: string,
): Data {
  if (data.body === body) return data
  throw new RequestError(
    'invalid',
    'This Idempotency-Key was used with a different body: use a new key for a new request',
  )
}

export type BulkChanges = {
  readonly diamonds: readonly number[]
  readonly appends: readonly Append[]
  /** Metadata of every event, except for the version of its payload. */
  readonly metadata: NewEvent['metadata']
}

export type Bulk = BulkChanges & Pick<RequestRecord, 'stream' | 'body'> & { readonly expected: Revision }

export type BulkWork = Omit<Bulk, 'expected'>

/** The stream name for the request with these identifying parts. */
export const requestStream = (...names: readonly unknown[]): string => `request-${sha256(JSON.stringify(names))}`

/** The digest of a parsed body. White space and the order of members do not matter. */
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

/** Characters of changes per event, well below EventStoreDB's limit of 1 MiB. */
const MAX_PART_CHARACTERS = 250_000

export function requestAcceptedEvents({ stream, expected, body, diamonds, appends, metadata }: Bulk): NewEvent[] {
  const parts = splitIntoParts(appends.map(toAcceptedChange))
  return parts.map((changes, index) => {
    const data: RequestAccepted['data'] = { body, diamonds, part: index + 1, parts: parts.length, changes }
    // The first change's event id makes it unique: another attempt at the same bulk has different changes.
    const id = eventId(`${stream}/${expected}/${appends[0]?.events[0]?.id}`, index)
    return { id, type: 'RequestAccepted', data, metadata: withEventVersion(metadata, 'RequestAccepted') }
  })
}

/** The accepted but not completed bulk in a request's stream, if any, with the revision of the stream. */
export function findPendingWork(events: readonly StoredEvent[]): { work: BulkWork; revision: bigint } | undefined {
  const last = events.at(-1)
  if (last?.type !== 'RequestAccepted') return undefined
  const { parts } = decode<RequestAccepted>(last).data
  const acceptedParts = events.slice(-parts).map((event) => decode<RequestAccepted>(event).data)
  if (acceptedParts.length < parts || acceptedParts.some(({ part }, index) => part !== index + 1)) return undefined
  const { stream, metadata, revision } = last
  const { body = '', diamonds = [] } = acceptedParts[0] ?? {}
  const appends = acceptedParts.flatMap(({ changes }) => changes.map((change) => fromAcceptedChange(change, metadata)))
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
