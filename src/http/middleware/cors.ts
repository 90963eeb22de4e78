import koaCors from '@koa/cors'
import type { IncomingHttpHeaders } from 'node:http'
import { RequestError } from '../../domain/decider.ts'
import type { Middleware } from './context.ts'

/** Origins whose pages may ask the APIs: none, all, or those of a list. */
export type AllowedOrigins = '*' | ReadonlySet<string>

/** Seconds that a browser need not ask again what it may send: a day. */
const PREFLIGHT_MAX_AGE_SECONDS = 86_400

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
export function cors(origins: AllowedOrigins): Middleware {
  const isClosed = origins !== '*' && origins.size === 0
  const allow = koaCors({
    origin: origins === '*' ? '*' : ({ headers: { origin = '' } }) => (origins.has(origin) ? origin : ''),
    exposeHeaders: EXPOSED,
    allowHeaders: ACCEPTED,
    maxAge: PREFLIGHT_MAX_AGE_SECONDS,
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

/** Where requests may come from: this service's own addresses, and those of CORS_ORIGINS. */
export type TrustedOrigins = { readonly ownOrigins: readonly string[]; readonly allowedOrigins: AllowedOrigins }

/**
 * Whether another site's page has made a browser send this. Programs send neither header. A form of another site can post
 * with what the browser has stored (passwords of Basic, an address in its history), without its user's knowledge.
 * https://www.w3.org/TR/fetch-metadata/ and https://fetch.spec.whatwg.org/#origin-header
 */
function isCrossSite(headers: IncomingHttpHeaders, { ownOrigins, allowedOrigins }: TrustedOrigins): boolean {
  const { origin } = headers
  const site = headers['sec-fetch-site']
  if (site === 'same-origin' || site === 'none') return false
  if (site === undefined && (origin === undefined || origin === 'null' || isOwn(origin, headers.host, ownOrigins)))
    return false
  if (headers['sec-fetch-mode'] === 'navigate' || origin === undefined) return true
  return allowedOrigins !== '*' && !allowedOrigins.has(origin)
}

/** Older browsers send an origin alone; behind a name that nobody has configured it is that of the request. */
const isOwn = (origin: string, host: string | undefined, ownOrigins: readonly string[]) =>
  ownOrigins.includes(origin) || (URL.canParse(origin) && new URL(origin).host === host)

/** To be asked of what changes something. @throws Refusal forbidden for what another site's page has made a browser send */
export function refuseCrossSite(headers: IncomingHttpHeaders, sites: TrustedOrigins): void {
  if (!isCrossSite(headers, sites)) return
  throw new RequestError(
    'forbidden',
    'This came from a page of another site; open the link, or call the API from a program',
  )
}
