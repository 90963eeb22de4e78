import type { Middleware } from './context.ts'

/**
 * Takes doubled slashes for one, and drops a slash at the path's end, a fragment, and the host that a proxy may write before
 * the path (RFC 9112, 3.2.2): `//v4/diamond/?x` is `/v4/diamond?x`. Routes, Idempotency-Keys and links then know one name
 * for one thing. The query stays as it was sent.
 */
export function plainPath(): Middleware {
  return (ctx, next) => {
    const plain = plainTarget(ctx.url)
    if (plain !== ctx.url) ctx.url = plain
    return next()
  }
}

function plainTarget(target: string): string {
  const given = isPlain(target) ? target : bare(target)
  if (!given.startsWith('/')) return given
  const query = given.indexOf('?')
  const path = query < 0 ? given : given.slice(0, query)
  if (!path.includes('//') && !(path.length > 1 && path.endsWith('/'))) return given
  const plain = path.replaceAll(/\/{2,}/g, '/')
  const whole = plain.length > 1 && plain.endsWith('/') ? plain.slice(0, -1) : plain
  return whole + (query < 0 ? '' : given.slice(query))
}

const isPlain = (target: string) => target.startsWith('/') && !target.includes('#')

function bare(target: string): string {
  const path = AUTHORITY.test(target) && URL.canParse(target) ? target.replace(AUTHORITY, '') || '/' : target
  return path.replace(FRAGMENT, '')
}

const AUTHORITY = /^https?:\/\/[^/?#]*/i
const FRAGMENT = /#.*$/s
