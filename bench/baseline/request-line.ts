import { randomUUID } from 'node:crypto'
import { destination, pino } from 'pino'
import type { Ctx } from './authenticate.ts'

/** Written in the background to stderr, as the real service writes its own. */
const log = pino(destination({ dest: 2, sync: false }))

/** Names each request, and writes a line of it when it was answered: what the real service does as well. */
export async function logRequest(ctx: Ctx, next: () => Promise<unknown>): Promise<void> {
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
