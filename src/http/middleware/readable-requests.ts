import { networkOf } from '../../credentials/guess-limits.ts'
import { Refusal } from '../../domain/decider.ts'
import { FairShare, type Taken } from '../../runtime/fairness/fair-share.ts'
import { LEAST_PACE, type LeastPace } from '../../runtime/fairness/pace.ts'
import { RefusedWith } from '../kit/errors.ts'
import type { BodyAllowance, Context, Middleware } from './context.ts'

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

/** Bytes of bodies that are in memory at a time, from the first that arrives until the request is answered. */
const BODIES = 64 * 1024 * 1024

export type BodyBounds = { readonly bytes?: number; readonly leastPace?: LeastPace }

/** Bounds the bodies of all requests together: shared fairly among addresses and those who show the same credentials there. */
export function bodyBounds({ bytes = BODIES, leastPace = LEAST_PACE }: BodyBounds): Middleware {
  const share = new FairShare(bytes)
  return (ctx, next) => {
    ctx.state.allowance = new Allowance(ctx, share, leastPace)
    return next()
  }
}

class Allowance implements BodyAllowance {
  #taken: Taken | undefined

  constructor(
    private readonly ctx: Context,
    private readonly share: FairShare,
    readonly leastPace: LeastPace,
  ) {}

  took(bytes: number): void {
    this.#taken ??= this.#open()
    if (!this.#taken.more(bytes)) throw noRoom()
  }

  expects(bytes: number): void {
    if (!this.share.hasRoom(this.#names(), bytes)) throw noRoom()
  }

  #open(): Taken {
    const taken = this.share.open(this.#names())
    this.ctx.res.once('close', () => taken.giveBack())
    return taken
  }

  #names(): readonly string[] {
    return [`address ${networkOf(this.ctx.ip)}`, `as ${this.ctx.headers.authorization ?? 'nobody'}`]
  }
}

const noRoom = () =>
  new Refusal('unavailable', 'Too many bodies of requests are being read at this moment; try again', 2)
