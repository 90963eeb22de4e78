import { createHash } from 'node:crypto'
import { IDEMPOTENCY_KEY_TTL_MS, type RequestDone } from '../../domain/bulk/bulk.ts'
import { RequestError } from '../../domain/request-error.ts'
import { eventTimeOf } from '../../events/event-metadata.ts'
import type { NewEvent, Revision, StoredEvent } from '../../stores/ports/event-store.ts'
import { withEventVersion } from '../core/append.ts'
import type { CommandContext } from '../core/command-context.ts'

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

/** Marks a request as done. @param metadata of the bulk's events; `id` is random, or the same for every attempt */
export const requestDoneEvent = (
  { body, diamonds }: RequestDone['data'],
  id: string,
  metadata: NewEvent['metadata'],
): NewEvent => ({
  id,
  type: 'RequestDone',
  data: { body, diamonds },
  metadata: withEventVersion(metadata, 'RequestDone'),
})

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
