import type Koa from 'koa'
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { RequestState } from '../kit/endpoint.ts'

/** Koa's context in the middleware. `params` and `matched` are set by the router. */
export type RequestContext = Koa.ParameterizedContext<
  RequestState,
  { params?: Readonly<Record<string, string>>; matched?: readonly MatchedRoute[] }
>
type MatchedRoute = { readonly path: string | RegExp; readonly methods: readonly string[] }
export type Middleware = (ctx: RequestContext, next: Koa.Next) => unknown

/** Version 00, or the compatible start of a later version: https://www.w3.org/TR/trace-context/#traceparent-header */
const HEADER = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-[^,]*)?$/

/** The only flag of version 00: the caller records the trace. */
const SAMPLED = 1

/**
 * Parses a `traceparent` header to version 00. An invalid header is ignored. The service records no spans, so its own
 * outgoing requests use the caller's span as parent.
 */
export function parseTraceparent(header: string | readonly string[] | undefined): string | undefined {
  if (typeof header !== 'string') return undefined
  const [, version, trace, parent, flags = '', extension] = HEADER.exec(header.trim()) ?? []
  if (version === undefined || (version === '00' && extension !== undefined)) return undefined
  const sampled = Number.parseInt(flags, 16) & SAMPLED
  return `00-${trace}-${parent}-0${sampled}`
}

/** Sets the request id, which the response, the events and the log carry, and the trace context. */
export function assignRequestId(): Middleware {
  return (ctx, next) => {
    ctx.state.requestId = requestIdOf(ctx.req)
    ctx.state.trace = parseTraceparent(ctx.req.headers['traceparent'])
    ctx.set('X-Request-Id', ctx.state.requestId)
    return next()
  }
}

/** Printable ASCII including spaces, since tracing systems send such ids. */
const REQUEST_ID = /^[\x20-\x7e]{1,128}$/

/** The client's X-Request-Id; a new id if there is none, more than one, or an invalid one. */
function requestIdOf(req: IncomingMessage): string {
  const requestId = req.headers['x-request-id']
  if (typeof requestId !== 'string' || !REQUEST_ID.test(requestId)) return randomUUID()
  // Node joins repeated headers with a comma, but a single id may contain a comma too.
  const isOne = !requestId.includes(',') || req.headersDistinct['x-request-id']?.length === 1
  return isOne ? requestId : randomUUID()
}
