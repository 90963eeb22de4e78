import { createHmac, timingSafeEqual } from 'node:crypto'
import { Refusal } from '../../src/domain/refusal.ts'
import type { Step } from '../../src/http/request.ts'

const KEY = Buffer.alloc(32, 7)
const seen = new Map<string, number>()

export const sign = (payload: string) => `${payload}.${createHmac('sha256', KEY).update(payload).digest('base64url')}`

/** A placeholder of the same cost until the token check of the service is there: a look-up after the first time. */
export const authenticate: Step = (ctx, next) => {
  const token = ctx.get('Authorization').slice('Bearer '.length)
  const account = seen.get(token) ?? check(token)
  ctx.state.caller = { account, session: '', client: '' }
  return next()
}

function check(token: string): number {
  const dot = token.indexOf('.')
  const given = Buffer.from(token.slice(dot + 1), 'base64url')
  const made = createHmac('sha256', KEY).update(token.slice(0, dot)).digest()
  if (given.length !== made.length || !timingSafeEqual(given, made)) throw new Refusal('unauthenticated', 'Bad token')
  const account = Number(token.slice(0, token.indexOf('-')))
  seen.set(token, account)
  return account
}
