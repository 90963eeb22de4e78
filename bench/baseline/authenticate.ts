import type { Context } from 'koa'
import type { AccessClaims, AccessTokens } from '../../src/credentials/access-tokens.ts'
import { RequestError } from '../../src/domain/decider.ts'

/** What a request's middlewares leave for each other. */
export type State = { caller: AccessClaims }
export type Ctx = Context & { state: State }
export type Step = (ctx: Ctx, next: () => Promise<unknown>) => unknown

type Checks = { readonly tokens: AccessTokens; readonly isLive: (claims: AccessClaims) => boolean }

/** Lets pass who sends an access token that is good, by the checks of the real service. */
export function authenticate({ tokens, isLive }: Checks): Step {
  return (ctx, next) => {
    const claims = tokens.verify(/^Bearer (.+)$/.exec(ctx.get('Authorization'))?.[1] ?? '')
    if (typeof claims === 'string' || !isLive(claims))
      throw new RequestError('unauthenticated', 'The token is not good')
    ctx.state.caller = claims
    return next()
  }
}
