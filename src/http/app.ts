import { Router } from '@koa/router'
import Koa from 'koa'
import { Refusal } from '../domain/refusal.ts'
import type { Log } from '../log.ts'
import { answerErrors, platformBody, type ErrorBody } from './errors.ts'
import { identify } from './identify.ts'
import type { RequestState, Step } from './request.ts'

/** Adds the routes of one resource. */
export type Routes = (router: Router<RequestState>) => void

/** Error bodies that differ from the platform's, by path prefix. */
export type ErrorBodies = Readonly<Record<string, ErrorBody>>

export type AppOptions = {
  readonly routes: readonly Routes[]
  readonly errorBodies: ErrorBodies
  readonly log: Log
  /** Number of proxies in front whose X-Forwarded-For is believed. */
  readonly trustProxy: number
}

/** Composes the service: what every request passes, then its route. */
export function createApp({ routes, errorBodies, log, trustProxy }: AppOptions): Koa<RequestState> {
  const app = new Koa<RequestState>({ proxy: trustProxy > 0, maxIpsCount: trustProxy })
  const router = new Router<RequestState>()
  for (const add of routes) add(router)
  const prefixes = Object.entries(errorBodies)
  const bodyFor = (path: string) => prefixes.find(([prefix]) => path.startsWith(prefix))?.[1] ?? platformBody
  app.use(identify)
  app.use(
    answerErrors(
      (error, ctx, status) => log.error({ err: error, request: ctx.state.requestId, status }, 'request failed'),
      bodyFor,
    ),
  )
  app.use(router.routes())
  app.use(refuseUnmatched(router))
  app.on('error', (error: unknown) => {
    if (!isHangUp(error)) log.error({ err: error }, 'answering failed')
  })
  return app
}

/** A known path asked in a wrong way is 405 with Allow, everything else 404. */
function refuseUnmatched(router: Router<RequestState>): Step {
  return (ctx) => {
    const allowed = new Set(router.match(ctx.path, ctx.method).path.flatMap((layer) => layer.methods))
    if (allowed.size === 0) throw new Refusal('missing', `There is nothing at ${ctx.path.slice(0, 200)}`)
    const methods = [...allowed].join(', ')
    ctx.set('Allow', methods)
    throw new Refusal('not-allowed', `${ctx.method} is not possible here; ${methods} is`)
  }
}

/** Clients that hang up are no fault of ours. */
function isHangUp(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === 'EPIPE' || code === 'ECONNRESET' || code === 'ERR_STREAM_PREMATURE_CLOSE'
}
