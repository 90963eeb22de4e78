import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Middleware } from './context.ts'
import { traceOf } from '../kit/trace-context.ts'

/** Names each request: `ctx.state.requestId`, which its answer, its events and the log have, and the trace it is a part of. */
export function identify(): Middleware {
  return (ctx, next) => {
    ctx.state.requestId = requestIdOf(ctx.req)
    ctx.state.trace = traceOf(ctx.req.headers['traceparent'])
    ctx.set('X-Request-Id', ctx.state.requestId)
    return next()
  }
}

/** Printable ASCII, spaces inside too: what tracing systems put into the header. */
const KEPT = /^[\x20-\x7e]{1,128}$/

/** The id that the caller gave its request, or a new one where it gave none, two, or one that is no such text. */
function requestIdOf(req: IncomingMessage): string {
  const given = req.headers['x-request-id']
  if (typeof given !== 'string' || !KEPT.test(given)) return randomUUID()
  // Two of them arrive as one text with a comma, which one of them may have as well.
  const isOne = !given.includes(',') || req.headersDistinct['x-request-id']?.length === 1
  return isOne ? given : randomUUID()
}
