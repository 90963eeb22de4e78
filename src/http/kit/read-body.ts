import type { Transform } from 'node:stream'
import { createBrotliDecompress, createUnzip } from 'node:zlib'
import type { Context } from 'koa'
import { HttpMethodEnum, koaBody, type KoaBodyMiddlewareOptions } from 'koa-body'
import { RequestError } from '../../domain/request-error.ts'
import { HttpError } from './http-error.ts'
import { discardRest, encodingOf, readWithLimits, tooLarge } from './body-limits.ts'
import { ErrorWithHeaders } from './errors.ts'
import type { EndpointContext } from './endpoint.ts'
import { tooManyParameters } from './parameters/form.ts'

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
  /** Applies to the body as sent and to the decompressed body. */
  readonly maxBytes: number
  /** Content-Type of a body that has none. */
  readonly defaultType: string
}

/** Clients send bodies with every method, including DELETE and GET. */
const METHODS = Object.values(HttpMethodEnum)

/**
 * Reads bodies with koa-body within the limits of `readWithLimits`, and discards the rest of a rejected body.
 * @returns a reader; it returns undefined without a body and throws RequestError malformed, too-large, unavailable;
 *   HttpError 408, 415
 */
export function bodyReader({
  maxBytes,
  defaultType,
  ...options
}: BodyReaderOptions): (ctx: EndpointContext) => Promise<unknown> {
  const disabledParsers = { json: false, urlencoded: false, text: false, multipart: false }
  const limits = { jsonLimit: maxBytes, formLimit: maxBytes, textLimit: maxBytes }
  const parse = koaBody({ ...disabledParsers, ...limits, parsedMethods: METHODS, ...options })
  return async (ctx) => {
    const { req } = ctx
    req.headers['content-type'] ||= defaultType
    try {
      refuseCharset(ctx.request.charset)
      const decompressor = decompressorOf(encodingOf(req))
      const decompressedContext = () => (decompressor === undefined ? ctx : withDecompressedBody(ctx, decompressor))
      try {
        await readWithLimits(ctx, maxBytes, () =>
          parse(decompressedContext() as unknown as Context, async () => undefined),
        )
      } finally {
        decompressor?.destroy()
      }
      return ctx.request.body
    } catch (error) {
      discardRest(req)
      throw toRequestError(error, maxBytes)
    }
  }
}

const DECOMPRESSORS: Readonly<Record<string, () => Transform>> = {
  gzip: createUnzip,
  deflate: createUnzip,
  br: createBrotliDecompress,
}

/** @returns undefined for an uncompressed body @throws HttpError 415 */
function decompressorOf(encoding: string | undefined): Transform | undefined {
  if (encoding === undefined) return undefined
  const createDecompressor = Object.hasOwn(DECOMPRESSORS, encoding) ? DECOMPRESSORS[encoding] : undefined
  if (createDecompressor !== undefined) return createDecompressor()
  const supportedEncodings = Object.keys(DECOMPRESSORS).join(', ')
  throw new HttpError(415, `Content-Encoding must be one of ${supportedEncodings}, got ${encoding.slice(0, 40)}`)
}

/** A context whose request emits the decompressed body: an error of the parser's own decompressor could end the process. */
function withDecompressedBody(ctx: EndpointContext, decompressor: Transform): EndpointContext {
  const decompressedBody = ctx.req.pipe(decompressor)
  // The parser handles the first error only; further ones would be uncaught.
  decompressedBody.on('error', () => undefined)
  return Object.create(ctx, { req: { value: Object.assign(decompressedBody, { headers: {} }) } }) as EndpointContext
}

/** Rejects other charsets: a Latin-1 body that happens to be valid UTF-8 would be misread. */
function refuseCharset(charset: string): void {
  if (/^(?:utf-?8)?$/i.test(charset)) return
  throw new HttpError(415, `The charset of the body must be UTF-8, got ${charset.slice(0, 40)}`)
}

/** Instructions for changing a document (RFC 6902), not a document. */
const JSON_PATCH = 'application/json-patch+json'

/**
 * Requires that the body, if there is one, has one of the media types. `application/json` stands for its extensions (`+json`)
 * too, except JSON Patch; an empty string allows a body without a Content-Type.
 * @throws ErrorWithHeaders 415, with `Accept-Patch` for PATCH (RFC 5789, section 2.2)
 */
export function requireMediaType(
  { req, method }: Pick<EndpointContext, 'req' | 'method'>,
  mediaTypes: readonly string[],
): void {
  const { 'content-type': type = '', 'content-length': length = '0', 'transfer-encoding': encoding } = req.headers
  if (length === '0' && encoding === undefined) return
  const mediaType = type === '' ? '' : type.toLowerCase().split(/[\s;,]/, 1)[0] || type
  if (mediaTypes.includes(mediaType)) return
  const readsJson = mediaTypes.includes('application/json')
  if (readsJson && mediaType.endsWith('+json') && mediaType !== JSON_PATCH) return
  discardRest(req)
  const names = mediaTypes.filter(Boolean)
  const list = names.join(', ').replace(/, (?=[^,]*$)/, ' or ')
  const refusal = new HttpError(415, `Content-Type must be ${list}, got ${type.slice(0, 100) || 'none'}`)
  const acceptPatch = [...names, ...(readsJson ? ['application/merge-patch+json'] : [])].join(', ')
  throw method === 'PATCH' ? new ErrorWithHeaders({ 'Accept-Patch': acceptPatch }, refusal) : refusal
}

type ParserError = Error & { status?: number; code?: string; body?: unknown }

/** Maps errors of the body parsers to RequestError; unknown errors stay as they are. */
function toRequestError(error: unknown, maxBytes: number): unknown {
  if (!(error instanceof Error)) return error
  const { status, code = '' } = error as ParserError
  // The parser attaches the body, which may contain a secret, and errors are logged.
  delete (error as ParserError).body
  if (error instanceof RequestError) return error
  if (status === 413) return tooLarge(maxBytes)
  if (code.startsWith('Z_') || code.startsWith('ERR__ERROR_')) {
    return new RequestError('malformed', 'The body does not match its Content-Encoding')
  }
  if (error instanceof SyntaxError) return new RequestError('malformed', `The body is not valid JSON: ${error.message}`)
  if (error instanceof RangeError) return tooManyParameters()
  return status === 400 ? new RequestError('malformed', `The body cannot be read: ${error.message}`) : error
}
