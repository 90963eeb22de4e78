import { pipeline, Readable, type Transform } from 'node:stream'
import { promisify } from 'node:util'
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib'
import { networkOf } from '../../credentials/failed-attempt-limiter.ts'
import { FairSemaphore } from '../../runtime/fairness/semaphores.ts'
import { setBody } from './responses.ts'
import type { Middleware, RequestContext } from './context.ts'

/** Smaller bodies are not compressed: they fit into one packet. */
const COMPRESSION_THRESHOLD_BYTES = 1024

/** Brotli's highest levels save a few percent, but take a second where this one takes milliseconds. */
const BROTLI_LEVEL = 4

const COMPRESSIBLE_TYPES = /^(?:text\/|application\/(?:[\w.-]+\+)?json\b|application\/x-ndjson|image\/svg)/

/**
 * Bodies that are compressed at a time. Each takes up to 8 MB and one of libuv's four threads, which also read files.
 */
const MAX_CONCURRENT_COMPRESSIONS = 2

type CompressibleBody = string | Buffer
type Encoding = 'br' | 'gzip'

const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_LEVEL } }

const brotli = promisify(brotliCompress)
const compressors: Readonly<Record<Encoding, (body: CompressibleBody) => Promise<Buffer>>> = {
  br: (body) => brotli(body, BROTLI),
  gzip: promisify<CompressibleBody, Buffer>(gzip),
}

const streamCompressors: Readonly<Record<Encoding, () => Transform>> = {
  br: () => createBrotliCompress(BROTLI),
  gzip: () => createGzip(),
}

function compressStream(body: Readable, encoding: Encoding): Readable {
  // An error of either stream destroys both; Koa reports that of the compressor.
  return pipeline(body, streamCompressors[encoding](), () => {})
}

/**
 * Compresses text responses for clients that accept it. Excludes streams of events, so that the client receives each
 * immediately, and `no-store`: the compressed length of a response could reveal something about the secret in it.
 */
export function compression(): Middleware {
  const permits = new FairSemaphore(MAX_CONCURRENT_COMPRESSIONS)
  /** A Buffer is the body of many responses, so it is compressed once; a string is the body of one. */
  const compressedBuffers: Readonly<Record<Encoding, WeakMap<Buffer, Promise<Buffer>>>> = {
    br: new WeakMap(),
    gzip: new WeakMap(),
  }

  async function compress(ctx: RequestContext, body: CompressibleBody, encoding: Encoding): Promise<Buffer> {
    const release = await permits.acquire({ names: [networkOf(ctx.ip)], isPriority: false })
    try {
      return await compressors[encoding](body)
    } finally {
      release()
    }
  }

  function compressOnce(ctx: RequestContext, body: Buffer, encoding: Encoding): Promise<Buffer> {
    const known = compressedBuffers[encoding].get(body)
    if (known !== undefined) return known
    const compressed = compress(ctx, body, encoding)
    compressedBuffers[encoding].set(body, compressed)
    return compressed
  }

  return async (ctx, next) => {
    ctx.vary('Accept-Encoding')
    await next()
    const body = compressibleBody(ctx)
    const encoding = body === undefined ? undefined : acceptedEncoding(ctx)
    if (body === undefined || encoding === undefined) return
    if (typeof body === 'string') ctx.body = await compress(ctx, body, encoding)
    else if (Buffer.isBuffer(body)) ctx.body = await compressOnce(ctx, body, encoding)
    else ctx.body = compressStream(body, encoding)
    ctx.set('Content-Encoding', encoding)
  }
}

function compressibleBody(ctx: RequestContext): CompressibleBody | Readable | undefined {
  const { body, method, response } = ctx
  if (method === 'HEAD' || !COMPRESSIBLE_TYPES.test(response.type) || response.get('Cache-Control') === 'no-store')
    return undefined
  if (body instanceof Readable) return response.type === 'text/event-stream' ? undefined : body
  const isText = typeof body === 'string' || Buffer.isBuffer(body)
  return isText && (ctx.length ?? 0) >= COMPRESSION_THRESHOLD_BYTES ? body : undefined
}

/**
 * The encoding to use: Brotli, which is smaller, before gzip. Undefined if the client prefers the body as it is, and also
 * if it accepts no encoding at all (RFC 9110, section 12.5.3): a response that the client can't decode helps nobody.
 */
const acceptedEncoding = (ctx: RequestContext): Encoding | undefined =>
  (['br', 'gzip'] as const).find((encoding) => ctx.acceptsEncodings(encoding, 'identity') === encoding)

/** Responds 304 if the client has the current ETag (RFC 9110, section 13.1.2), without creating the body. */
export function conditionalGet(): Middleware {
  return async (ctx, next) => {
    await next()
    const { response } = ctx.state
    if (response?.ignoresIfNoneMatch !== true && ctx.response.get('ETag') && ctx.fresh) {
      ctx.status = 304
      ctx.body = null
    } else if (typeof response?.body === 'function') {
      setBody(ctx, await response.body())
    }
  }
}
