import { Readable } from 'node:stream'
import type { HttpResponse } from '../kit/response.ts'
import type { EndpointGroup } from '../kit/endpoint.ts'
import { toHttpErrorDetails, ErrorWithHeaders, type ErrorLogger } from '../kit/errors.ts'
import { fixedHeaders } from '../kit/server.ts'
import type { RequestContext, Middleware } from './context.ts'

const JSON_TYPE = 'application/json; charset=utf-8'

/** Makes what an endpoint has returned Koa's answer, but for a body that is made later (`conditionalGet`). */
export function setResponse(ctx: RequestContext, response: HttpResponse): void {
  const { status, headers, body } = response
  ctx.state.response = response
  if (body !== undefined) ctx.set('Content-Type', JSON_TYPE)
  for (const name in headers) {
    if (name === 'Vary') ctx.vary(headers[name] ?? '')
    else ctx.set(name, headers[name] ?? '')
  }
  // The length of an answer that holds a secret must tell nothing of it.
  if (ctx.response.get('Cache-Control') === 'no-store') ctx.compress = false
  if (typeof body !== 'function') setBody(ctx, body)
  // Koa makes it 204 where there is no body.
  ctx.status = status
}

/** @param body a stream is sent as it comes, so that its reader gets each part at once */
export function setBody(ctx: RequestContext, body: string | Uint8Array | Readable | undefined): void {
  if (body instanceof Readable) ctx.compress = false
  // Koa would take a plain Uint8Array for an object to write as JSON.
  const isBare = body instanceof Uint8Array && !Buffer.isBuffer(body)
  ctx.body = isBare ? Buffer.from(body.buffer, body.byteOffset, body.byteLength) : (body ?? null)
}

type ErrorHandlingOptions = {
  readonly log: ErrorLogger
  /** The family of a target that no endpoint answers. */
  readonly findGroup: (target: string) => EndpointGroup
}

/** Answers what was thrown by the one map of errors, in the words of the family; faults of ours are logged. */
export function handleErrors({ log, findGroup }: ErrorHandlingOptions): Middleware {
  return async (ctx, next) => {
    try {
      await next()
    } catch (error) {
      setErrorResponse(ctx, error, { log, findGroup })
    }
  }
}

function setErrorResponse(ctx: RequestContext, error: unknown, { log, findGroup }: ErrorHandlingOptions): void {
  const { endpoint, requestId, params = {} } = ctx.state
  const cause = error instanceof ErrorWithHeaders ? error.error : error
  const details = toHttpErrorDetails(cause)
  if (details.status >= 500) log(cause, requestId, details.status, endpoint?.operationId)
  const group = endpoint?.group ?? findGroup(ctx.url)
  const response = group.errorResponse(details, cause, { requestId, params })
  const retry = details.retryAfterSeconds === undefined ? {} : { 'Retry-After': String(details.retryAfterSeconds) }
  for (const name in ctx.state.response?.headers) ctx.remove(name)
  const own = error instanceof ErrorWithHeaders ? error.headers : {}
  setResponse(ctx, {
    ...response,
    headers: { ...(endpoint ?? group).headers, ...retry, ...own, ...response.headers },
  })
}

/** Sets what every answer has: the version, `nosniff`, and HSTS where the public address is https. */
export function securityHeaders({ https }: { readonly https: boolean }): Middleware {
  const headers = fixedHeaders(https)
  return (ctx, next) => {
    ctx.set(headers)
    return next()
  }
}
