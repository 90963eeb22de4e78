import { z } from 'zod'
import type { IdempotencyKey } from '../../commands/bulk/request-record.ts'
import { RequestError } from '../../domain/request-error.ts'
import type { EndpointContext, RequestBody, VersionedSchema } from './endpoint.ts'
import { bodyReader, DEFAULT_BODY_MAX_BYTES } from './read-body.ts'

/** Large enough for 500 entries with every field at its maximum length in UTF-8. */
export const BULK_BODY_MAX_BYTES = 1024 * 1024

export const JSON_TYPES = ['json', '+json']

/**
 * A JSON body. A body without a Content-Type is read as JSON.
 * @param schema for the API reference only; the handler validates the value
 */
export const json = (schema?: VersionedSchema, maxBytes = DEFAULT_BODY_MAX_BYTES): RequestBody<unknown> => ({
  mediaTypes: ['application/json', ''],
  maxBytes,
  ...(schema !== undefined && { schema }),
  read: jsonReader(maxBytes),
})

/** @returns a reader that throws RequestError malformed, too-large or unavailable, HttpError 408 or 415 */
export function jsonReader(maxBytes = DEFAULT_BODY_MAX_BYTES): (ctx: EndpointContext) => Promise<unknown> {
  const types = { json: true, jsonTypes: JSON_TYPES, jsonStrict: false, includeUnparsed: true }
  const read = bodyReader({ ...types, maxBytes, defaultType: 'application/json' })
  return async (ctx) => {
    const value = await read(ctx)
    const { rawBody = '' } = ctx.request as { rawBody?: string }
    if (rawBody.trim() === '') throw new RequestError('malformed', 'The body is empty; a JSON object is required')
    // The decoder replaces invalid UTF-8 by U+FFFD; storing that would lose data.
    if (rawBody.includes('\ufffd'))
      throw new RequestError('malformed', 'The body is not valid JSON: it is not valid UTF-8, or contains U+FFFD')
    refuseLarge(value)
    return value
  }
}

/** Nesting depth; a diamond in a bulk request has five levels. Protects recursive code from stack overflows. */
const MAX_DEPTH = 32

/** Members of an object, or elements of an array. */
const MAX_MEMBERS = 1_000

/** @throws RequestError invalid if the value is nested too deeply, too-large if an object or array has too many members */
export function refuseLarge(value: unknown): void {
  let level = [value].filter(isContainer)
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > MAX_DEPTH)
      throw new RequestError('invalid', `The body must not be nested more than ${MAX_DEPTH} levels deep`)
    level = level.flatMap((container) => {
      refuseManyMembers(container)
      return Object.values(container).filter(isContainer)
    })
  }
}

function refuseManyMembers(container: object): void {
  // Object.keys, because Object.values takes four times as long for 70,000 members.
  const { length } = Array.isArray(container) ? container : Object.keys(container)
  if (length <= MAX_MEMBERS) return
  const maxText = MAX_MEMBERS.toLocaleString('en')
  throw new RequestError('too-large', `An object or array must have at most ${maxText} members, got ${length}`)
}

const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null

type IdempotentRequest = Pick<EndpointContext, 'headers' | 'method' | 'path'>

export const IDEMPOTENCY_KEY = z
  .string()
  .optional()
  .describe(
    'A unique value for this request. Repeating the request with the same key within 24 hours returns the first response.',
  )
  .meta({ examples: ['5f0c2c36-2c1b-4a43-9c2d-9f0a1f6f2b7e'] })

/** @throws RequestError malformed if the key is not 1 to 255 printable ASCII characters */
export function idempotencyKeyOf({ headers, method, path }: IdempotentRequest): IdempotencyKey | undefined {
  const key = headers['idempotency-key']
  if (key === undefined) return undefined
  if (typeof key === 'string' && /^[\x20-\x7e]{1,255}$/.test(key)) return { key, method, path }
  throw new RequestError('malformed', 'Idempotency-Key must have 1 to 255 printable characters')
}
