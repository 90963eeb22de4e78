import type { Context } from 'koa'
import { z } from 'zod'
import type { IdempotencyKey } from '../../commands/bulk/request-record.ts'
import { RequestError } from '../../domain/decider.ts'
import type { HttpRequest, RequestBody, VersionedSchema } from './endpoint.ts'
import { bodyReader, DEFAULT_BODY_MAX_BYTES } from './read-body.ts'

/** Bytes of a bulk's body at most: 500 entries fit, each with every field at its longest in UTF-8. */
export const BULK_BODY_MAX_BYTES = 1024 * 1024

export const JSON_TYPES = ['json', '+json']

/**
 * A JSON body; one without a type is taken for JSON.
 * @param schema for documents: `run` reads the value
 * @param upTo bytes at most
 */
export const json = (schema?: VersionedSchema, maxBytes = DEFAULT_BODY_MAX_BYTES): RequestBody<unknown> => ({
  mediaTypes: ['application/json', ''],
  maxBytes,
  ...(schema !== undefined && { schema }),
  read: jsonReader(maxBytes),
})

/** Reads JSON of at most so many bytes. The reader throws Refusal unsupported, malformed, too-large, too-slow, unavailable */
export function jsonReader(maxBytes = DEFAULT_BODY_MAX_BYTES): (ctx: Context) => Promise<unknown> {
  const types = { json: true, jsonTypes: JSON_TYPES, jsonStrict: false, includeUnparsed: true }
  const read = bodyReader({ ...types, maxBytes: maxBytes, defaultType: 'application/json' })
  return async (ctx) => {
    const value = await read(ctx)
    const { rawBody = '' } = ctx.request as { rawBody?: string }
    if (rawBody.trim() === '') throw new RequestError('malformed', 'The body is empty; send a JSON object')
    // What a decoder puts in place of bytes that are not UTF-8: they would be stored as that, and lost.
    if (rawBody.includes('\ufffd'))
      throw new RequestError('malformed', 'The body is not JSON: it is not UTF-8, or has U+FFFD')
    refuseLarge(value)
    return value
  }
}

/** Levels of a body; a diamond in a bulk has five. What walks through a body need not fear for the stack. */
const MAX_DEPTH = 32

/** Members of one object, or elements of one array. */
const MAX_MEMBERS = 1_000

/** @throws Refusal invalid for a value of too many levels, too-large for an object or array of too many members */
export function refuseLarge(value: unknown): void {
  let level = [value].filter(isContainer)
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) throw new RequestError('invalid', `The body is nested over ${MAX_DEPTH} levels deep`)
    level = level.flatMap((container) => {
      refuseManyMembers(container)
      return Object.values(container).filter(isContainer)
    })
  }
}

/** @throws Refusal too-large */
function refuseManyMembers(container: object): void {
  // Their names alone, since the values of 70,000 would take four times as long.
  const { length } = Array.isArray(container) ? container : Object.keys(container)
  if (length <= MAX_MEMBERS) return
  const most = MAX_MEMBERS.toLocaleString('en')
  throw new RequestError('too-large', `An object or array may have at most ${most} members, one has ${length}`)
}

const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null

type IdempotentRequest = Pick<HttpRequest, 'headers' | 'method' | 'path'>

export const IDEMPOTENCY_KEY = z
  .string()
  .optional()
  .describe('A name of the caller for this one request: sent again within a day, it gives the first answer again.')
  .meta({ examples: ['5f0c2c36-2c1b-4a43-9c2d-9f0a1f6f2b7e'] })

/**
 * The caller's name for its request; undefined where it gave none.
 * @throws Refusal malformed for a key that is empty, too long or not printable
 */
export function idempotencyKeyOf({ headers, method, path }: IdempotentRequest): IdempotencyKey | undefined {
  const key = headers['idempotency-key']
  if (key === undefined) return undefined
  if (typeof key === 'string' && /^[\x20-\x7e]{1,255}$/.test(key)) return { key, method, path }
  throw new RequestError('malformed', 'Idempotency-Key must have 1 to 255 printable characters')
}
