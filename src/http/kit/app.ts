import type { Router } from '@koa/router'
import Koa from 'koa'
import { Refusal } from '../../domain/refusal.ts'
import type { Log } from '../../runtime/log.ts'
import { preflightHeaders } from './cross-origin.ts'
import { answerErrors, errorLog, platformBody, type ErrorBody } from './errors.ts'
import { hostFault } from './host.ts'
import { identify } from './identify.ts'
import { packAnswer } from './packing.ts'
import { pathOf, type Ctx, type RequestState, type Step } from './request.ts'

/**
 * The routes below one prefix, which is the first two segments of a path, or its only one. A router tries its routes
 * one after another, so each resource has its own: 4 us a request instead of 15 with all routes in one.
 */
export type Resource = {
  readonly prefix: string
  readonly router: Router<RequestState>
  /** Where it differs from the platform's. */
  readonly errorBody?: ErrorBody
  /** Of all its answers, refusals too. */
  readonly headers?: Readonly<Record<string, string>>
}

/** What belongs to an account may be kept by its own client alone, and is asked for again each time. */
export const PRIVATE = { 'Cache-Control': 'private, no-cache' } as const

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
  app.use(packAnswer)
  app.use(answerErrors(errorLog(log), (path) => resourceOf(path)?.errorBody ?? platformBody))
  app.use(refuseUnreadable)
  app.use(dispatch(resources, resourceOf))
  app.on('error', (error: unknown) => {
    if (!isHangUp(error)) log.error({ err: error }, 'answering failed')
  })
  return app
}

/** What HTTP forbids and its parser lets pass: no Host, or two, or a target that is no address. */
const refuseUnreadable: Step = (ctx, next) => {
  const fault = hostFault(ctx.req)
  if (fault !== undefined) throw new Refusal('malformed', fault)
  if (pathOf(ctx) === undefined) throw new Refusal('malformed', 'The request target is no address')
  return next()
}

function dispatch(resources: readonly Resource[], resourceOf: (path: string) => Resource | undefined): Step {
  const handlers = new Map(resources.map((resource) => [resource, resource.router.routes() as unknown as Step]))
  return (ctx) => {
    if (ctx.method === 'OPTIONS' && ctx.path === '*') return tellMethods(ctx, METHODS)
    const resource = resourceOf(ctx.path)
    const handler = resource && handlers.get(resource)
    if (resource === undefined || handler === undefined) return refuseUnknown(ctx.path)
    if (resource.headers !== undefined) ctx.set(resource.headers)
    return handler(ctx, async () => answerUnmatched(ctx, resource.router))
  }
}

/** Of the whole service (RFC 9110, 9.3.7). */
const METHODS = 'HEAD, GET, POST, PUT, PATCH, DELETE, OPTIONS'

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

/** A known path says what it can be asked; asked in a wrong way it is 405 with the same, everything else 404. */
function answerUnmatched(ctx: Ctx, router: Router<RequestState>): void {
  const { path, method } = ctx
  const known = new Set(router.match(path, method).path.flatMap((layer) => layer.methods))
  if (known.size === 0) return refuseUnknown(path)
  const methods = [...known, 'OPTIONS'].join(', ')
  if (method === 'OPTIONS') return tellMethods(ctx, methods)
  ctx.set('Allow', methods)
  throw new Refusal('not-allowed', `${method} is not possible here; ${methods} is`)
}

/** Nobody has to be logged in to ask what can be asked: browsers ask it before they send credentials. */
function tellMethods(ctx: Ctx, methods: string): void {
  ctx.set('Allow', methods)
  ctx.status = 204
  const isPreflight = ctx.get('Access-Control-Request-Method') !== ''
  if (isPreflight && ctx.res.hasHeader('Access-Control-Allow-Origin')) ctx.set(preflightHeaders(methods))
}

/** Clients that hang up are no fault of ours. */
function isHangUp(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === 'EPIPE' || code === 'ECONNRESET' || code === 'ERR_STREAM_PREMATURE_CLOSE'
}
