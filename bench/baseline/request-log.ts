import { randomUUID } from 'node:crypto'
import { destination, pino } from 'pino'
import type { BaselineContext } from './authenticate.ts'

/** Writes to stderr in the background, like the real service. */
const log = pino(destination({ dest: 2, sync: false }))

/** Assigns a request id and logs the request after the response, like the real service. */
export async function logRequest(ctx: BaselineContext, next: () => Promise<unknown>): Promise<void> {
  const started = performance.now()
  const request = ctx.get('X-Request-Id') || randomUUID()
  ctx.set('X-Request-Id', request)
  await next()
  const { method, status } = ctx
  ctx.res.once('finish', () => {
    const bytes = ctx.length ?? 0
    log.info({ request, method, status, ms: performance.now() - started, bytes, account: ctx.state.caller?.account })
  })
}
