import { networkOf } from '../../credentials/failed-attempt-limiter.ts'
import { RequestError } from '../../domain/request-error.ts'
import { HttpError } from '../kit/http-error.ts'
import { FairShare, type FairAllocation } from '../../runtime/fairness/fair-share.ts'
import { MINIMUM_TRANSFER_RATE, type MinimumTransferRate } from '../../runtime/fairness/transfer-rate.ts'
import { ErrorWithHeaders } from '../kit/errors.ts'
import type { BodyAllowance } from '../kit/endpoint.ts'
import type { RequestContext, Middleware } from './context.ts'

/**
 * Normalises the request target, so that routes, idempotency keys and links use one name for each resource. Merges repeated
 * slashes; removes a trailing slash, a fragment, and the host of an absolute-form target (RFC 9112, section 3.2.2):
 * `//v4/diamond/?x` becomes `/v4/diamond?x`. The query is unchanged.
 */
export function normalizePath(): Middleware {
  return (ctx, next) => {
    const normalized = normalizeTarget(ctx.url)
    if (normalized !== ctx.url) ctx.url = normalized
    return next()
  }
}

function normalizeTarget(target: string): string {
  const originForm = isOriginForm(target) ? target : toOriginForm(target)
  if (!originForm.startsWith('/')) return originForm
  const query = originForm.indexOf('?')
  const path = query < 0 ? originForm : originForm.slice(0, query)
  if (!path.includes('//') && !(path.length > 1 && path.endsWith('/'))) return originForm
  const merged = path.replaceAll(/\/{2,}/g, '/')
  const withoutTrailingSlash = merged.length > 1 && merged.endsWith('/') ? merged.slice(0, -1) : merged
  return withoutTrailingSlash + (query < 0 ? '' : originForm.slice(query))
}

const isOriginForm = (target: string) => target.startsWith('/') && !target.includes('#')

function toOriginForm(target: string): string {
  const path = AUTHORITY.test(target) && URL.canParse(target) ? target.replace(AUTHORITY, '') || '/' : target
  return path.replace(FRAGMENT, '')
}

const AUTHORITY = /^https?:\/\/[^/?#]*/i
const FRAGMENT = /#.*$/s

/**
 * Maximum characters of all headers. The HTTP parser's limit of 272 KiB allows for a secret in the request line; this one
 * protects code that parses headers from lists of a hundred thousand tags or addresses.
 */
const HEADERS_MAX = 32 * 1024

/**
 * Rejects invalid requests that Node's parser accepts (RFC 9112, section 3.2): a missing or repeated Host, an invalid target,
 * or headers that are too long.
 */
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
      const refusal = new HttpError(431, `The headers must be at most ${HEADERS_MAX} characters`)
      throw new ErrorWithHeaders({ Connection: 'close' }, refusal)
    }
    if (hosts > 1) throw new RequestError('malformed', `The request must have one Host header, got ${hosts}`)
    if (headers.host === undefined && httpVersionMinor > 0)
      throw new RequestError('malformed', 'The request must have a Host header')
    if (!ctx.url.startsWith('/') && !(ctx.url === '*' && ctx.method === 'OPTIONS'))
      throw new RequestError('malformed', 'The request target must be a path or an absolute URL')
    return next()
  }
}

/** Memory for all request bodies together. A request holds its share until its response is sent. */
const BODY_MEMORY_BYTES = 64 * 1024 * 1024

export type BodyBounds = { readonly memoryBytes?: number; readonly minTransferRate?: MinimumTransferRate }

/** Limits the memory for all request bodies, shared fairly among client addresses and, for each address, credentials. */
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
  #allocation: FairAllocation | undefined

  constructor(
    private readonly ctx: RequestContext,
    private readonly share: FairShare,
    readonly minTransferRate: MinimumTransferRate,
  ) {}

  consume(bytes: number): void {
    this.#allocation ??= this.#openAllocation()
    if (!this.#allocation.tryTake(bytes)) throw tooManyBodies()
  }

  requireAvailable(bytes: number): void {
    if (!this.share.canTake(clientNames(this.ctx), bytes)) throw tooManyBodies()
  }

  #openAllocation(): FairAllocation {
    const allocation = this.share.openAllocation(clientNames(this.ctx))
    this.ctx.res.once('close', () => allocation.release())
    return allocation
  }
}

/** The names under which a client has its share of a limited resource. */
export const clientNames = ({ ip, headers }: RequestContext): readonly string[] => [
  `address ${networkOf(ip)}`,
  `as ${headers.authorization ?? 'nobody'}`,
]

const tooManyBodies = () => new RequestError('unavailable', 'Too many request bodies are being read; try again', 2)
