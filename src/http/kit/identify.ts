import { keptAsked } from './asked.ts'
import { EveryAnswer } from './every-answer.ts'
import type { Step } from './request.ts'

/** Where the routes stand alone. */
const PLAIN = new EveryAnswer()

/** Gives every answer of the routes its request id and the headers that all answers have. */
export const identify: Step = (ctx, next) => {
  const { requestId, headers } = keptAsked(ctx.req) ?? PLAIN.asked(ctx.req)
  ctx.state.requestId = requestId
  ctx.res.setHeader('X-Request-Id', requestId)
  for (let at = 0; at < headers.length; at += 2) ctx.res.setHeader(headers[at] ?? '', headers[at + 1] ?? '')
  return next()
}
