import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Middleware } from 'koa'

const KEY = Buffer.alloc(32, 7)
export const sign = (payload: string) => `${payload}.${createHmac('sha256', KEY).update(payload).digest('base64url')}`

export const authenticate: Middleware<{ owner: number }> = (ctx, next) => {
  const token = ctx.get('Authorization').slice('Bearer '.length)
  const dot = token.indexOf('.')
  const given = Buffer.from(token.slice(dot + 1), 'base64url')
  const made = createHmac('sha256', KEY).update(token.slice(0, dot)).digest()
  if (given.length !== made.length || !timingSafeEqual(given, made)) ctx.throw(401, 'The access token is not valid')
  ctx.state.owner = Number(token.slice(0, token.indexOf('-')))
  return next()
}
