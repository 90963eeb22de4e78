import koaCors from '@koa/cors'
import type { IncomingHttpHeaders } from 'node:http'
import { RequestError } from '../../domain/request-error.ts'
import type { Middleware } from './context.ts'

/** Origins whose pages may call the APIs. */
export type AllowedOrigins = '*' | ReadonlySet<string>

/** One day. */
const PREFLIGHT_MAX_AGE_SECONDS = 86_400

/** Response headers that scripts may read, in addition to those that CORS always allows. */
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

/** Request headers that scripts may send. `*` would not cover Authorization. */
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

/** CORS applies to the APIs only, not to pages, health and metrics. */
const API = /^\/(?:v\d+|api|\.well-known)(?:\/|$)/

/**
 * Allows scripts of other origins to call the APIs (https://fetch.spec.whatwg.org/#http-cors-protocol), but never with the
 * browser's cookies or stored passwords: Access-Control-Allow-Credentials is not sent.
 */
export function cors(origins: AllowedOrigins): Middleware {
  const allowsNone = origins !== '*' && origins.size === 0
  const applyCors = koaCors({
    origin: origins === '*' ? '*' : ({ headers: { origin = '' } }) => (origins.has(origin) ? origin : ''),
    exposeHeaders: EXPOSED,
    allowHeaders: ACCEPTED,
    maxAge: PREFLIGHT_MAX_AGE_SECONDS,
    // The error middleware keeps the headers that are already set.
    keepHeadersOnError: false,
  }) as Middleware
  return async (ctx, next) => {
    if (allowsNone || !API.test(ctx.path)) return next()
    if (ctx.method !== 'OPTIONS') return applyCors(ctx, next)
    // The allowed methods are known only after routing.
    await next()
    const { status, response } = ctx
    if (status !== 204) return undefined
    await applyCors(ctx, async () => undefined)
    if (response.get('Access-Control-Allow-Methods')) ctx.set('Access-Control-Allow-Methods', response.get('Allow'))
    return undefined
  }
}

/** This service's own origins, and those of CORS_ORIGINS. */
export type TrustedOrigins = { readonly ownOrigins: readonly string[]; readonly allowedOrigins: AllowedOrigins }

/**
 * Detects cross-site request forgery: a form on another site can post with the credentials stored in the browser, without
 * the user's knowledge. Clients other than browsers send neither Origin nor Sec-Fetch-Site.
 * https://www.w3.org/TR/fetch-metadata/ and https://fetch.spec.whatwg.org/#origin-header
 */
function isCrossSite(headers: IncomingHttpHeaders, { ownOrigins, allowedOrigins }: TrustedOrigins): boolean {
  const { origin } = headers
  const fetchSite = headers['sec-fetch-site']
  if (fetchSite === 'same-origin' || fetchSite === 'none') return false
  if (
    fetchSite === undefined &&
    (origin === undefined || origin === 'null' || isOwnOrigin(origin, headers.host, ownOrigins))
  )
    return false
  if (headers['sec-fetch-mode'] === 'navigate' || origin === undefined) return true
  return allowedOrigins !== '*' && !allowedOrigins.has(origin)
}

/** For older browsers, which send only Origin. Under a host name that is not configured, compares it with the Host header. */
const isOwnOrigin = (origin: string, host: string | undefined, ownOrigins: readonly string[]) =>
  ownOrigins.includes(origin) || (URL.canParse(origin) && new URL(origin).host === host)

/** For requests that change state. @throws RequestError forbidden for a cross-site request of a browser */
export function refuseCrossSite(headers: IncomingHttpHeaders, trustedOrigins: TrustedOrigins): void {
  if (!isCrossSite(headers, trustedOrigins)) return
  throw new RequestError(
    'forbidden',
    'Cross-site request rejected; open the link directly, or call the API from a program',
  )
}
