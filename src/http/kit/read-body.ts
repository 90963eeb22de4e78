import type { Transform } from 'node:stream'
import { createBrotliDecompress, createUnzip } from 'node:zlib'
import type { Context } from 'koa'
import { HttpMethodEnum, koaBody, type KoaBodyMiddlewareOptions } from 'koa-body'
import { RequestError } from '../../domain/decider.ts'
import { discardRest, encodingOf, readWithLimits, tooLarge } from './body-limits.ts'
import { tooMany } from './parameters/form.ts'

/** Bytes of a body at most, where nothing else is said. */
export const DEFAULT_BODY_MAX_BYTES = 64 * 1024

type BodyReaderOptions = Pick<
  Partial<KoaBodyMiddlewareOptions>,
  | 'encoding'
  | 'includeUnparsed'
  | 'json'
  | 'jsonTypes'
  | 'jsonStrict'
  | 'queryString'
  | 'text'
  | 'textTypes'
  | 'urlencoded'
> & {
  /** Bytes at most, as they are sent and decompressed. */
  readonly maxBytes: number
  /** The type of a body without one. */
  readonly defaultType: string
}

/** Bodies of every method that an endpoint has: programs send them with DELETE, and with GET. */
const METHODS = Object.values(HttpMethodEnum)

/**
 * Reads bodies by koa-body, within the limits of `readWatched`; what is left of a refused one is read and forgotten.
 * @returns undefined where there is no body. It throws Refusal unsupported, malformed, too-large, too-slow, unavailable
 */
export function bodyReader({
  maxBytes,
  defaultType,
  ...options
}: BodyReaderOptions): (ctx: Context) => Promise<unknown> {
  const { jsonTypes = [], textTypes = [], urlencoded = false } = options
  const types = [...jsonTypes, ...textTypes, ...(urlencoded ? ['urlencoded'] : [])]
  const none = { json: false, urlencoded: false, text: false, multipart: false }
  const limits = { jsonLimit: maxBytes, formLimit: maxBytes, textLimit: maxBytes }
  const parse = koaBody({ ...none, ...limits, parsedMethods: METHODS, ...options })
  return async (ctx) => {
    const { req } = ctx
    req.headers['content-type'] ||= defaultType
    try {
      if (ctx.is(types) === false) throw unsupported(req.headers['content-type'], defaultType)
      refuseCharset(ctx.request.charset)
      const decompressor = decompressorOf(encodingOf(req))
      const bytes = () => (decompressor === undefined ? ctx : withDecompressedBody(ctx, decompressor))
      try {
        await readWithLimits(ctx, maxBytes, () => parse(bytes(), async () => undefined))
      } finally {
        decompressor?.destroy()
      }
      return (ctx.request as { body?: unknown }).body
    } catch (error) {
      discardRest(req)
      throw refusalOf(error, maxBytes)
    }
  }
}

const DECOMPRESSORS: Readonly<Record<string, () => Transform>> = {
  gzip: createUnzip,
  deflate: createUnzip,
  br: createBrotliDecompress,
}

/** @returns undefined for a body that is not compressed. @throws Refusal unsupported */
function decompressorOf(encoding: string | undefined): Transform | undefined {
  if (encoding === undefined) return undefined
  const make = Object.hasOwn(DECOMPRESSORS, encoding) ? DECOMPRESSORS[encoding] : undefined
  if (make !== undefined) return make()
  const known = Object.keys(DECOMPRESSORS).join(', ')
  throw new RequestError('unsupported', `Content-Encoding must be one of ${known}, got ${encoding.slice(0, 40)}`)
}

/** The context with a request that gives decompressed bytes: the parser's own decompressor could end the process. */
function withDecompressedBody(ctx: Context, decompressor: Transform): Context {
  const bytes = ctx.req.pipe(decompressor)
  // The parser reports the first; one behind that, when it no longer listens, would be nobody's.
  bytes.on('error', () => undefined)
  return Object.create(ctx, { req: { value: Object.assign(bytes, { headers: {} }) } }) as Context
}

/** Latin letters that happen to be UTF-8 would be read as others. */
function refuseCharset(charset: string): void {
  if (/^(?:utf-?8)?$/i.test(charset)) return
  throw new RequestError('unsupported', `The charset of the body must be UTF-8, got ${charset.slice(0, 40)}`)
}

const unsupported = (type: string, wanted: string) =>
  new RequestError('unsupported', `Content-Type must be ${wanted}, got ${type.slice(0, 100)}`)

type ParserError = Error & { status?: number; code?: string; body?: unknown }

/** What the libraries throw; what is known of none of them is our fault. */
function refusalOf(error: unknown, limit: number): unknown {
  if (!(error instanceof Error)) return error
  const { status, code = '' } = error as ParserError
  // The parser puts the body there, which may hold a secret, and errors are logged.
  delete (error as ParserError).body
  if (error instanceof RequestError) return error
  if (status === 413) return tooLarge(limit)
  if (code.startsWith('Z_') || code.startsWith('ERR__ERROR_')) {
    return new RequestError('malformed', 'The body is not what its Content-Encoding says')
  }
  if (error instanceof SyntaxError) return new RequestError('malformed', `The body is not JSON: ${error.message}`)
  if (error instanceof RangeError) return tooMany()
  return status === 400 ? new RequestError('malformed', `The body can't be read: ${error.message}`) : error
}
