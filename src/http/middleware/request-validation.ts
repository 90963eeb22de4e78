import { networkOf } from '../../credentials/failed-attempt-limiter.ts'
import { RequestError } from '../../domain/decider.ts'
import { FairShare, type FairAllocation } from '../../runtime/fairness/fair-share.ts'
import { MINIMUM_TRANSFER_RATE, type MinimumTransferRate } from '../../runtime/fairness/transfer-rate.ts'
import { ErrorWithHeaders } from '../kit/errors.ts'
import type { BodyAllowance, RequestContext, Middleware } from './context.ts'

/**
 * Takes doubled slashes for one, and drops a slash at the path's end, a fragment, and the host that a proxy may write before
 * the path (RFC 9112, 3.2.2): `//v4/diamond/?x` is `/v4/diamond?x`. Routes, Idempotency-Keys and links then know one name
 * for one thing. The query stays as it was sent.
 */
export function normalizePath(): Middleware {
  return (ctx, next) => {
    const plain = normalizeTarget(ctx.url)
    if (plain !== ctx.url) ctx.url = plain
    return next()
  }
}

function normalizeTarget(target: string): string {
  const given = isOriginForm(target) ? target : toOriginForm(target)
  if (!given.startsWith('/')) return given
  const query = given.indexOf('?')
  const path = query < 0 ? given : given.slice(0, query)
  if (!path.includes('//') && !(path.length > 1 && path.endsWith('/'))) return given
  const plain = path.replaceAll(/\/{2,}/g, '/')
  const whole = plain.length > 1 && plain.endsWith('/') ? plain.slice(0, -1) : plain
  return whole + (query < 0 ? '' : given.slice(query))
}

const isOriginForm = (target: string) => target.startsWith('/') && !target.includes('#')

function toOriginForm(target: string): string {
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
export function validateRequests(): Middleware {
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
      const refusal = new RequestError('too-long', `The headers may have at most ${HEADERS_MAX} characters`)
      throw new ErrorWithHeaders({ Connection: 'close' }, refusal)
    }
    if (hosts > 1) throw new RequestError('malformed', `The request has ${hosts} Host headers`)
    if (headers.host === undefined && httpVersionMinor > 0)
      throw new RequestError('malformed', 'The request has no Host header')
    if (!ctx.url.startsWith('/') && !(ctx.url === '*' && ctx.method === 'OPTIONS'))
      throw new RequestError('malformed', 'The request target is no address')
    return next()
  }
}

/** Bytes of bodies that are in memory at a time, from the first that arrives until the request is answered. */
const BODY_MEMORY_BYTES = 64 * 1024 * 1024

export type BodyBounds = { readonly memoryBytes?: number; readonly minTransferRate?: MinimumTransferRate }

/** Bounds the bodies of all requests together: shared fairly among addresses and those who show the same credentials there. */
export function bodyBounds({
  memoryBytes = BODY_MEMORY_BYTES,
  minTransferRate = MINIMUM_TRANSFER_RATE,
}: BodyBounds): Middleware {
  const share = new FairShare(memoryBytes)
  return (ctx, next) => {
    ctx.state.bodyAllowance = new SharedBodyAllowance(ctx, share, minTransferRate)
    return next()
  }
}

class SharedBodyAllowance implements BodyAllowance {
  #taken: FairAllocation | undefined

  constructor(
    private readonly ctx: RequestContext,
    private readonly share: FairShare,
    readonly minTransferRate: MinimumTransferRate,
  ) {}

  consume(bytes: number): void {
    this.#taken ??= this.#open()
    if (!this.#taken.tryTake(bytes)) throw noRoom()
  }

  requireRoom(bytes: number): void {
    if (!this.share.hasRoom(this.#names(), bytes)) throw noRoom()
  }

  #open(): FairAllocation {
    const taken = this.share.openAllocation(this.#names())
    this.ctx.res.once('close', () => taken.release())
    return taken
  }

  #names(): readonly string[] {
    return [`address ${networkOf(this.ctx.ip)}`, `as ${this.ctx.headers.authorization ?? 'nobody'}`]
  }
}

const noRoom = () =>
  new RequestError('unavailable', 'Too many bodies of requests are being read at this moment; try again', 2)
