import type Koa from 'koa'
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { MinimumTransferRate } from '../../runtime/fairness/transfer-rate.ts'
import type { HttpResponse } from '../kit/response.ts'
import type { Endpoint } from '../kit/endpoint.ts'

/** What middlewares tell each other of a request. */
export type RequestState = {
  requestId: string
  /** The trace that it is a part of, as `traceparent` has it. */
  trace: string | undefined
  bodyAllowance: BodyAllowance
  endpoint?: Pick<Endpoint, 'operationId' | 'group' | 'headers'>
  params?: Readonly<Record<string, string>>
  /** What the endpoint's `who` made of the caller. */
  principal?: unknown
  /** What the endpoint has answered. */
  response?: HttpResponse
}

/** What a request's body may take of the memory for all of them, and how fast it has to come. */
export type BodyAllowance = {
  readonly minTransferRate: MinimumTransferRate
  /** @throws Refusal unavailable where others need the room */
  consume(bytes: number): void
  /** @param bytes that a body says to have. @throws Refusal unavailable where there is no room for them now */
  requireRoom(bytes: number): void
}

export type RequestContext = Koa.ParameterizedContext<RequestState> & { matched?: readonly MatchedRoute[] }
type MatchedRoute = { readonly path: string | RegExp; readonly methods: readonly string[] }
export type Middleware = (ctx: RequestContext, next: Koa.Next) => unknown

/** What a header of version 00 is, and what one of a later version begins with: https://www.w3.org/TR/trace-context/#traceparent-header */
const HEADER = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-[^,]*)?$/

/** The one flag that there is in version 00: whether the caller records the trace. */
const SAMPLED = 1

/**
 * The trace that a request is a part of, as `traceparent` of version 00. A header that is none is as if it were not there: a caller
 * is never refused for it. The service records no spans of its own, so what it asks of others stays below its caller's span.
 * @returns undefined where there is none
 */
export function parseTraceparent(header: string | readonly string[] | undefined): string | undefined {
  if (typeof header !== 'string') return undefined
  const [, version, trace, parent, flags = '', more] = HEADER.exec(header.trim()) ?? []
  if (version === undefined || (version === '00' && more !== undefined)) return undefined
  const sampled = Number.parseInt(flags, 16) & SAMPLED
  return `00-${trace}-${parent}-0${sampled}`
}

/** Names each request: `ctx.state.requestId`, which its answer, its events and the log have, and the trace it is a part of. */
export function assignRequestId(): Middleware {
  return (ctx, next) => {
    ctx.state.requestId = requestIdOf(ctx.req)
    ctx.state.trace = parseTraceparent(ctx.req.headers['traceparent'])
    ctx.set('X-Request-Id', ctx.state.requestId)
    return next()
  }
}

/** Printable ASCII, spaces inside too: what tracing systems put into the header. */
const REQUEST_ID = /^[\x20-\x7e]{1,128}$/

/** The id that the caller gave its request, or a new one where it gave none, two, or one that is no such text. */
function requestIdOf(req: IncomingMessage): string {
  const given = req.headers['x-request-id']
  if (typeof given !== 'string' || !REQUEST_ID.test(given)) return randomUUID()
  // Two of them arrive as one text with a comma, which one of them may have as well.
  const isOne = !given.includes(',') || req.headersDistinct['x-request-id']?.length === 1
  return isOne ? given : randomUUID()
}
