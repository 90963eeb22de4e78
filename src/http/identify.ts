import { randomUUID } from 'node:crypto'
import { VERSION } from '../version.ts'
import type { Step } from './request.ts'

/** Letters, digits and punctuation without quotes, spaces or controls: safe in a header, a log line and an event. */
const KEPT = /^[\w.:+/=@~-]{1,128}$/

/** Gives every answer its version and its request id. */
export const identify: Step = (ctx, next) => {
  const given = ctx.req.headers['x-request-id']
  const id = typeof given === 'string' && KEPT.test(given) ? given : randomUUID()
  ctx.state.requestId = id
  ctx.res.setHeader('X-App-Version', VERSION)
  ctx.res.setHeader('X-Request-Id', id)
  return next()
}
