import type { Middleware } from './context.ts'
import { setBody } from './answer.ts'

/** Answers 304 where the client's copy is the current one (RFC 9110, 13.1.2), and makes no body for it. */
export function conditionalGet(): Middleware {
  return async (ctx, next) => {
    await next()
    const { answer } = ctx.state
    if (answer?.isRenewed !== true && ctx.response.get('ETag') && ctx.fresh) {
      ctx.status = 304
      ctx.body = null
    } else if (typeof answer?.body === 'function') {
      setBody(ctx, await answer.body())
    }
  }
}
