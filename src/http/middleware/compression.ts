import koaCompress from 'koa-compress'
import { constants } from 'node:zlib'
import { setBody } from './responses.ts'
import type { Middleware } from './context.ts'

/** Bytes up to which a body is sent as it is, asked or not: a packet holds it. */
const COMPRESSION_THRESHOLD_BYTES = 1024

/** Brotli's highest levels take a second for what this one does in milliseconds, for a few percent. */
const BROTLI_LEVEL = 4

const COMPRESSIBLE_TYPES = /^(?:text\/|application\/(?:[\w.-]+\+)?json\b|image\/svg)/

/** Compresses texts for clients that ask for it; not what `setAnswer` excludes. */
export const compression = (): Middleware =>
  koaCompress({
    threshold: COMPRESSION_THRESHOLD_BYTES,
    filter: (type) => COMPRESSIBLE_TYPES.test(type),
    br: { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_LEVEL } },
    deflate: false,
    zstd: false,
  }) as Middleware

/** Answers 304 where the client's copy is the current one (RFC 9110, 13.1.2), and makes no body for it. */
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
