import { Refusal } from '../../domain/decider.ts'
import { RefusedWith } from '../kit/errors.ts'
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

/**
 * Characters of all headers together. The parser lets a request's line and headers share 272 KiB, since a secret may
 * stand in the line; what reads headers need not be made for lists of a hundred thousand tags or addresses.
 */
const HEADERS_MAX = 32 * 1024

/** Refuses requests that HTTP forbids and Node's parser lets pass (RFC 9112, 3.2): no Host, two of them, no address, or headers that are too long. */
export function readableRequests(): Middleware {
  return (ctx, next) => {
    const { headers, rawHeaders, httpVersionMinor } = ctx.req
    let length = 0
    let hosts = 0
    for (let at = 0; at < rawHeaders.length; at += 2) {
      const name = rawHeaders[at] ?? ''
      length += name.length + (rawHeaders[at + 1]?.length ?? 0)
      if (name.length === 4 && name.toLowerCase() === 'host') hosts++
    }
    if (length > HEADERS_MAX) {
      const refusal = new Refusal('too-long', `The headers may have at most ${HEADERS_MAX} characters`)
      throw new RefusedWith({ Connection: 'close' }, refusal)
    }
    if (hosts > 1) throw new Refusal('malformed', `The request has ${hosts} Host headers`)
    if (headers.host === undefined && httpVersionMinor > 0)
      throw new Refusal('malformed', 'The request has no Host header')
    if (!ctx.url.startsWith('/') && !(ctx.url === '*' && ctx.method === 'OPTIONS'))
      throw new Refusal('malformed', 'The request target is no address')
    return next()
  }
}
