import koaCors from '@koa/cors'
import type { Middleware } from './context.ts'

/** Origins whose pages may ask the APIs: none, all, or those of a list. */
export type Origins = '*' | ReadonlySet<string>

/** Seconds that a browser need not ask again what it may send: a day. */
const PREFLIGHT_LIFE = 86_400

/** What scripts may read of an answer beside the few headers that they always may. */
const EXPOSED = [
  'X-Total-Count',
  'Link',
  'ETag',
  'Location',
  'X-Request-Id',
  'X-App-Version',
  'X-Consistency',
  'Age',
  'Retry-After',
  'Memento-Datetime',
]

/** What scripts may send; `*` would not cover Authorization. */
const ACCEPTED = [
  'Authorization',
  'Content-Type',
  'If-Match',
  'If-None-Match',
  'Idempotency-Key',
  'Range',
  'X-Request-Id',
  'traceparent',
]

/** The APIs; pages, health and metrics are not for scripts. */
const API = /^\/(?:v\d+|api|\.well-known)(?:\/|$)/

/**
 * Lets the scripts of other origins read the APIs' answers (https://fetch.spec.whatwg.org/#http-cors-protocol). Cookies
 * and a browser's stored passwords never go with them: there is no Access-Control-Allow-Credentials.
 */
export function cors(origins: Origins): Middleware {
  const isClosed = origins !== '*' && origins.size === 0
  const allow = koaCors({
    origin: origins === '*' ? '*' : ({ headers: { origin = '' } }) => (origins.has(origin) ? origin : ''),
    exposeHeaders: EXPOSED,
    allowHeaders: ACCEPTED,
    maxAge: PREFLIGHT_LIFE,
    // They stay where they are set.
    keepHeadersOnError: false,
  }) as Middleware
  return async (ctx, next) => {
    if (isClosed || !API.test(ctx.path)) return next()
    if (ctx.method !== 'OPTIONS') return allow(ctx, next)
    // What the path allows is known behind the routers.
    await next()
    const { status, response } = ctx
    if (status !== 204) return undefined
    await allow(ctx, async () => undefined)
    if (response.get('Access-Control-Allow-Methods')) ctx.set('Access-Control-Allow-Methods', response.get('Allow'))
    return undefined
  }
}
