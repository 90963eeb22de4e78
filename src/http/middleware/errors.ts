import type { Family } from '../kit/endpoint.ts'
import { refusedOf, RefusedWith, type LogError } from '../kit/errors.ts'
import { fixedHeaders } from '../kit/server.ts'
import { setAnswer } from './answer.ts'
import type { Context, Middleware } from './context.ts'

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
