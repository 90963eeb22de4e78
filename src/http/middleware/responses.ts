import type { Readable } from 'node:stream'
import type { HttpResponse } from '../kit/response.ts'
import type { EndpointGroup, FailedRequest, HttpErrorDetails } from '../kit/endpoint.ts'
import { toHttpErrorDetails, ErrorWithForm, ErrorWithHeaders, type ErrorLogger } from '../kit/errors.ts'
import { browserErrorPages } from '../kit/page.ts'
import { fixedHeaders } from '../kit/server.ts'
import type { RequestContext, Middleware } from './context.ts'

const JSON_TYPE = 'application/json; charset=utf-8'

/** Applies an endpoint's response to the Koa context. `conditionalGet` creates a deferred body later. */
export function setResponse(ctx: RequestContext, response: HttpResponse): void {
  const { status, headers, body } = response
  ctx.state.response = response
  if (body !== undefined) ctx.set('Content-Type', JSON_TYPE)
  for (const name in headers) {
    if (name === 'Vary') ctx.vary(headers[name] ?? '')
    else ctx.set(name, headers[name] ?? '')
  }
  if (typeof body !== 'function') setBody(ctx, body)
  // Set last: Koa changes the status to 204 if the body is null.
  ctx.status = status
}

export function setBody(ctx: RequestContext, body: string | Uint8Array | Readable | undefined): void {
  // Koa would serialise a plain Uint8Array as JSON.
  const isPlainArray = body instanceof Uint8Array && !Buffer.isBuffer(body)
  ctx.body = isPlainArray ? Buffer.from(body.buffer, body.byteOffset, body.byteLength) : (body ?? null)
}

type ErrorHandlingOptions = {
  readonly log: ErrorLogger
  /** The group for a target that no endpoint matches. */
  readonly findGroup: (target: string) => EndpointGroup
}

/** Converts thrown errors to responses in the format of the endpoint's group. Logs those with status 500 and above. */
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
  const { endpoint, requestId } = ctx.state
  const cause = error instanceof ErrorWithHeaders ? error.error : error
  const details = toHttpErrorDetails(cause)
  if (details.status >= 500) log(cause, requestId, details.status, endpoint?.operationId)
  const group = endpoint?.group ?? findGroup(ctx.url)
  const failedRequest = {
    requestId,
    params: ctx.params ?? {},
    target: ctx.originalUrl,
    ...(error instanceof ErrorWithForm && { form: error.form }),
  }
  let response = group.errorResponse(details, cause, failedRequest)
  if (isRead(ctx) && group.errorFormat.schema !== undefined) {
    ctx.vary('Accept')
    if (isOpenedInBrowser(ctx)) response = asPage(response, details, failedRequest)
  }
  const retryHeaders =
    details.retryAfterSeconds === undefined ? {} : { 'Retry-After': String(details.retryAfterSeconds) }
  for (const name in ctx.state.response?.headers) ctx.remove(name)
  const errorHeaders = error instanceof ErrorWithHeaders ? error.headers : {}
  setResponse(ctx, {
    ...response,
    headers: { ...(endpoint ?? group).headers, ...retryHeaders, ...errorHeaders, ...response.headers },
  })
}

export const isRead = ({ method }: { readonly method: string }): boolean => method === 'GET' || method === 'HEAD'

/** The HTTP client of the JDK prefers HTML too, if its caller sets no `Accept`; but a client of the API has credentials. */
const isOpenedInBrowser = (ctx: RequestContext): boolean =>
  ctx.get('Authorization') === '' && ctx.accepts('json', 'html') === 'html'

function asPage(response: HttpResponse, details: HttpErrorDetails, request: FailedRequest): HttpResponse {
  const page = browserErrorPages.errorResponse({ ...details, status: response.status }, undefined, request)
  return { ...page, headers: { ...response.headers, ...page.headers } }
}

/** Sets the headers of every response: the version, `nosniff`, and HSTS if `https`. */
export function securityHeaders({ https }: { readonly https: boolean }): Middleware {
  const headers = fixedHeaders(https)
  return (ctx, next) => {
    ctx.set(headers)
    return next()
  }
}
