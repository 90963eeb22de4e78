import type { ApiCaller } from '../../commands/verify-api-token.ts'
import type { Origin } from '../../commands/origin.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { Ctx, Step } from '../request.ts'

export type ApiTokens = {
  verify(shown: { email: string; token: string; address: string }): Promise<ApiCaller | undefined>
}

/**
 * Reads Basic credentials, account and API token, into `ctx.state.sender`. Bad credentials are not anonymous: they are
 * refused where none are needed too. Empty ones (`Og==`) count as none, for programs that always send some.
 */
export const readSender =
  (tokens: ApiTokens): Step =>
  async (ctx, next) => {
    const shown = credentialsOf(ctx)
    if (shown === undefined) return next()
    const caller = await tokens.verify({ ...shown, address: ctx.ip })
    if (caller === undefined) throw notAuthorized(ctx)
    ctx.state.sender = { ...caller, token: shown.token }
    return next()
  }

export const requireSender: Step = (ctx, next) => {
  if (ctx.state.sender === undefined) throw notAuthorized(ctx)
  return next()
}

export function secretOriginOf(ctx: Ctx): Origin {
  const account = ctx.state.sender?.account
  const actor = account === undefined ? 'anonymous' : `account-${account}`
  return { actor, via: 'http', correlation: ctx.state.requestId }
}

const BASIC = /^basic +([\w+/-]+={0,2}) *$/i

function credentialsOf(ctx: Ctx): { email: string; token: string } | undefined {
  const header = ctx.req.headers.authorization
  if (header === undefined || header === '') return undefined
  const encoded = BASIC.exec(header)?.[1]
  const text = encoded === undefined ? '' : Buffer.from(encoded, 'base64').toString()
  if (text === ':') return undefined
  const colon = text.indexOf(':')
  if (colon < 1 || colon === text.length - 1) throw notAuthorized(ctx)
  return { email: text.slice(0, colon), token: text.slice(colon + 1) }
}

function notAuthorized(ctx: Ctx): Refusal {
  ctx.set('WWW-Authenticate', 'Basic realm="adamant secrets", charset="UTF-8"')
  return new Refusal('unauthenticated', 'Not authorized')
}
