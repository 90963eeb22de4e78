import type { Context } from 'koa'
import type { AccessClaims, AccessTokens } from '../../src/credentials/access-tokens.ts'
import { RequestError } from '../../src/domain/request-error.ts'

export type BaselineState = { caller: AccessClaims }
export type BaselineContext = Context & { state: BaselineState }
export type BaselineMiddleware = (ctx: BaselineContext, next: () => Promise<unknown>) => unknown

type TokenChecks = { readonly tokens: AccessTokens; readonly isLive: (claims: AccessClaims) => boolean }

/** Requires a valid access token, verified as in the real service. */
export function authenticate({ tokens, isLive }: TokenChecks): BaselineMiddleware {
  return (ctx, next) => {
    const claims = tokens.verify(/^Bearer (.+)$/.exec(ctx.get('Authorization'))?.[1] ?? '')
    if (typeof claims === 'string' || !isLive(claims))
      throw new RequestError('unauthenticated', 'The access token is invalid')
    ctx.state.caller = claims
    return next()
  }
}
