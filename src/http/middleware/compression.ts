import koaCompress from 'koa-compress'
import { constants } from 'node:zlib'
import { setBody } from './responses.ts'
import type { Middleware } from './context.ts'

/** Smaller bodies are not compressed: they fit into one packet. */
const COMPRESSION_THRESHOLD_BYTES = 1024

/** Brotli's highest levels save a few percent, but take a second where this one takes milliseconds. */
const BROTLI_LEVEL = 4

const COMPRESSIBLE_TYPES = /^(?:text\/|application\/(?:[\w.-]+\+)?json\b|image\/svg)/

/** Compresses text responses for clients that accept it, except those that `setResponse` excludes. */
export const compression = (): Middleware =>
  koaCompress({
    threshold: COMPRESSION_THRESHOLD_BYTES,
    filter: (type) => COMPRESSIBLE_TYPES.test(type),
    br: { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_LEVEL } },
    deflate: false,
    zstd: false,
  }) as Middleware

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
