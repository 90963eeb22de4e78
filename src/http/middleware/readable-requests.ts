import { Refusal } from '../../domain/refusal.ts'
import type { Middleware } from './context.ts'
import { RefusedWith } from '../kit/errors.ts'

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
