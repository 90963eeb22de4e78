import { Readable } from 'node:stream'
import type { Answer } from '../kit/answer.ts'
import type { Family } from '../kit/endpoint.ts'
import { refusedOf, RefusedWith, type LogError } from '../kit/errors.ts'
import { fixedHeaders } from '../kit/server.ts'
import type { Context, Middleware } from './context.ts'

const JSON_TYPE = 'application/json; charset=utf-8'

/** Makes what an endpoint has returned Koa's answer, but for a body that is made later (`conditionalGet`). */
export function setAnswer(ctx: Context, answer: Answer): void {
  const { status, headers, body } = answer
  ctx.state.answer = answer
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
export function setBody(ctx: Context, body: string | Uint8Array | Readable | undefined): void {
  if (body instanceof Readable) ctx.compress = false
  // Koa would take a plain Uint8Array for an object to write as JSON.
  const isBare = body instanceof Uint8Array && !Buffer.isBuffer(body)
  ctx.body = isBare ? Buffer.from(body.buffer, body.byteOffset, body.byteLength) : (body ?? null)
}

type ErrorOptions = {
  readonly log: LogError
  /** The family of a target that no endpoint answers. */
  readonly familyOf: (target: string) => Family
}

/** Answers what was thrown by the one map of errors, in the words of the family; faults of ours are logged. */
export function answerErrors({ log, familyOf }: ErrorOptions): Middleware {
  return async (ctx, next) => {
    try {
      await next()
    } catch (error) {
      setRefusal(ctx, error, { log, familyOf })
    }
  }
}

function setRefusal(ctx: Context, error: unknown, { log, familyOf }: ErrorOptions): void {
  const { endpoint, requestId, params = {} } = ctx.state
  const cause = error instanceof RefusedWith ? error.error : error
  const refused = refusedOf(cause)
  if (refused.status >= 500) log(cause, requestId, refused.status, endpoint?.name)
  const family = endpoint?.family ?? familyOf(ctx.url)
  const answer = family.refusal(refused, cause, { requestId, params })
  const retry = refused.retryAfter === undefined ? {} : { 'Retry-After': String(refused.retryAfter) }
  for (const name in ctx.state.answer?.headers) ctx.remove(name)
  const own = error instanceof RefusedWith ? error.headers : {}
  setAnswer(ctx, {
    ...answer,
    headers: { ...(endpoint ?? family).headers, ...retry, ...own, ...answer.headers },
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
