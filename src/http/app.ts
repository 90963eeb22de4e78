import type { Router } from '@koa/router'
import Koa from 'koa'
import { Refusal } from '../domain/refusal.ts'
import type { Log } from '../log.ts'
import { answerErrors, errorLog, platformBody, type ErrorBody } from './errors.ts'
import { identify } from './identify.ts'
import { pathOf, type RequestState, type Step } from './request.ts'

/**
 * The routes below one prefix, which is the first two segments of a path, or its only one. A router tries its routes
 * one after another, so each resource has its own: 4 us a request instead of 15 with all routes in one.
 */
export type Resource = {
  readonly prefix: string
  readonly router: Router<RequestState>
  /** Where it differs from the platform's. */
  readonly errorBody?: ErrorBody
}

export type AppOptions = {
  readonly resources: readonly Resource[]
  readonly log: Log
  /** Number of proxies in front whose X-Forwarded-For is believed. */
  readonly trustProxy: number
}

/** Composes the service: what every request passes, then its resource. */
export function createApp({ resources, log, trustProxy }: AppOptions): Koa<RequestState> {
  const app = new Koa<RequestState>({ proxy: trustProxy > 0, maxIpsCount: trustProxy })
  const byPrefix = new Map(resources.map((resource) => [resource.prefix, resource]))
  const resourceOf = (path: string) => byPrefix.get(prefixOf(path))
  app.use(identify)
  app.use(answerErrors(errorLog(log), (path) => resourceOf(path)?.errorBody ?? platformBody))
  app.use(refuseUnreadable)
  app.use(dispatch(resources, resourceOf))
  app.on('error', (error: unknown) => {
    if (!isHangUp(error)) log.error({ err: error }, 'answering failed')
  })
  return app
}

/** What HTTP forbids and its parser lets pass: no Host, or a target that is no address. */
const refuseUnreadable: Step = (ctx, next) => {
  if (ctx.req.headers.host === undefined && ctx.req.httpVersionMinor > 0) {
    throw new Refusal('malformed', 'The request has no Host header')
  }
  if (pathOf(ctx) === undefined) throw new Refusal('malformed', 'The request target is no address')
  return next()
}

function dispatch(resources: readonly Resource[], resourceOf: (path: string) => Resource | undefined): Step {
  const handlers = new Map(resources.map((resource) => [resource, resource.router.routes() as unknown as Step]))
  return (ctx) => {
    const resource = resourceOf(ctx.path)
    const handler = resource && handlers.get(resource)
    if (resource === undefined || handler === undefined) return refuseUnknown(ctx.path)
    return handler(ctx, () =>
      refuseUnmatched(resource.router, ctx.path, ctx.method, (allow) => ctx.set('Allow', allow)),
    )
  }
}

/** `/v4/diamond/7` → `/v4/diamond`, `/diamond/7` → `/diamond`. */
function prefixOf(path: string): string {
  const second = path.indexOf('/', 1)
  if (second < 0) return path
  if (!VERSIONED.test(path)) return path.slice(0, second)
  const third = path.indexOf('/', second + 1)
  return third < 0 ? path : path.slice(0, third)
}

/** Paths whose first segment only says a version or a family. */
const VERSIONED = /^\/(?:v\d+|api)\//

function refuseUnknown(path: string): never {
  throw new Refusal('missing', `There is nothing at ${path.slice(0, 200)}`)
}

/** A known path asked in a wrong way is 405 with Allow, everything else 404. */
async function refuseUnmatched(
  router: Router<RequestState>,
  path: string,
  method: string,
  allow: (methods: string) => void,
): Promise<never> {
  const methods = [...new Set(router.match(path, method).path.flatMap((layer) => layer.methods))].join(', ')
  if (methods === '') return refuseUnknown(path)
  allow(methods)
  throw new Refusal('not-allowed', `${method} is not possible here; ${methods} is`)
}

/** Clients that hang up are no fault of ours. */
function isHangUp(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === 'EPIPE' || code === 'ECONNRESET' || code === 'ERR_STREAM_PREMATURE_CLOSE'
}
