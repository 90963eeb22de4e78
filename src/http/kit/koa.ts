import type { RequestListener, ServerResponse } from 'node:http'
import Koa, { type Context } from 'koa'
import { Refusal } from '../../domain/refusal.ts'
import { Patience } from '../../projections/engine/patience.ts'
import { noContent, type Answer, type Headers } from './answer.ts'
import { arrivals, type Arrival, type ArrivalOptions } from './arrival.ts'
import type { Bodies } from './body.ts'
import { preflightHeaders } from './cross-origin.ts'
import type { Asked, Endpoint, Family } from './endpoint.ts'
import { platform, refusedOf, RefusedWith, type LogError } from './errors.ts'
import { Routes } from './routes.ts'
import type { Seen } from './seen.ts'
import { send } from './send.ts'

export type KoaOptions = Partial<ArrivalOptions> & {
  readonly log: LogError
  /** Number of proxies in front whose X-Forwarded-For is believed. */
  readonly trustProxy: number
  /** Bounds the bodies of all requests together; nothing does without it. */
  readonly bodies?: Bodies
  /** Milliseconds that a request waits for read models, in all. */
  readonly patience?: number
  /** Told of a request that waits for something to happen. */
  readonly waits?: (res: ServerResponse) => void
  /** Told of each request when the last of its answer was handed over. */
  readonly seen?: (request: Seen) => void
}

/** Of the whole service (RFC 9110, 9.3.7). */
const METHODS = 'HEAD, GET, POST, PUT, PATCH, DELETE, OPTIONS'

const NONE: Headers = {}

/**
 * Answers every request to these endpoints, by one middleware of Koa: finds the endpoint, lets in who may ask, reads the
 * body, runs, and sends.
 * @param services what endpoints are answered from
 */
export function koaOf<Service>(
  endpoints: readonly Endpoint<Service>[],
  services: Service,
  { log, trustProxy, bodies, seen, waits, patience, https = false, origins = new Set() }: KoaOptions,
): Koa {
  const routes = new Routes(endpoints)
  const familyOf = familiesOf(endpoints)
  const arrive = arrivals({ https, origins })
  const koa = new Koa({ proxy: trustProxy > 0, maxIpsCount: trustProxy })
  koa.use(host)
  return koa

  /** The one middleware. */
  function host(ctx: Context): unknown {
    ctx.respond = false
    const exchange = new Exchange(ctx, arrive(ctx.req), { waits, patience })
    try {
      bodies?.admit(ctx.req, ctx.res)
      const answer = answerTo(exchange)
      if (answer instanceof Promise) return answer.then((later) => finish(exchange, later)).catch(refuse)
      finish(exchange, answer)
    } catch (error) {
      refuse(error)
    }

    /** A refusal that can't be sent either has its client see the end of the connection. */
    function refuse(error: unknown): void {
      try {
        if (!ctx.res.headersSent) return finish(exchange, refusal(exchange, error))
        log(error, exchange.requestId, 500, exchange.endpoint?.name)
      } catch (worse) {
        log(worse, exchange.requestId, 500, exchange.endpoint?.name)
      }
      ctx.res.destroy()
    }
    return undefined
  }

  function answerTo(exchange: Exchange): Answer | Promise<Answer> {
    const { method, path, arrival } = exchange
    if (arrival.fault !== undefined) throw arrival.fault
    if (path === '*') return allowed(exchange, METHODS)
    const found = routes.find(method, path)
    if (found === undefined) throw new Refusal('missing', `There is nothing at ${path.slice(0, 200)}`)
    if ('allow' in found) {
      if (method === 'OPTIONS') return allowed(exchange, found.allow)
      const wrong = new Refusal('not-allowed', `${method} is not possible here; ${found.allow} is`)
      throw new RefusedWith({ Allow: found.allow }, wrong)
    }
    const { endpoint, params } = found
    exchange.endpoint = endpoint
    exchange.params = params
    return perform(endpoint, exchange, services)
  }

  function refusal(exchange: Exchange, error: unknown): Answer {
    const cause = error instanceof RefusedWith ? error.error : error
    const refused = refusedOf(cause)
    const family = exchange.endpoint?.family ?? familyOf(exchange.path)
    const { status, headers, body } = family.refusal(refused, cause, exchange)
    if (refused.status >= 500) log(cause, exchange.requestId, refused.status, exchange.endpoint?.name)
    const retry = refused.retryAfter === undefined ? NONE : { 'Retry-After': String(refused.retryAfter) }
    const own = error instanceof RefusedWith ? error.headers : NONE
    return { status, headers: { ...retry, ...own, ...headers }, body }
  }

  function finish(exchange: Exchange, answer: Answer): void {
    const { ctx, path, arrival, endpoint } = exchange
    const usual = (endpoint ?? familyOf(path)).headers ?? NONE
    const failed = (error: unknown) => log(error, arrival.requestId, 500, endpoint?.name)
    send(ctx.req, ctx.res, answer, arrival, usual, failed, (bytes) => seen?.(exchange.seen(answer.status, bytes)))
  }
}

/**
 * What Node's server calls. `koa.callback()` would do as well, and add two listeners to each answer for errors that are
 * caught here already (docs/decisions/0044).
 */
export function listenerOf(koa: Koa): RequestListener {
  const [host] = koa.middleware
  if (host === undefined) throw new Error('Koa has no middleware to answer with')
  return (req, res) => void host(koa.createContext(req, res), async () => undefined)
}

/** Runs an endpoint. Without a body nothing has to be waited for but what itself does wait. */
function perform<Service>(
  endpoint: Endpoint<Service>,
  exchange: Exchange,
  services: Service,
): Answer | Promise<Answer> {
  if (endpoint.body !== undefined) return performWithBody(endpoint, endpoint.body, exchange, services)
  const asker = endpoint.who.admit(exchange, services)
  if (asker instanceof Promise) {
    return asker.then((known) => {
      exchange.asker = known
      return endpoint.run(exchange, services)
    })
  }
  exchange.asker = asker
  return endpoint.run(exchange, services)
}

async function performWithBody<Service>(
  endpoint: Endpoint<Service>,
  body: NonNullable<Endpoint<Service>['body']>,
  exchange: Exchange,
  services: Service,
): Promise<Answer> {
  const { who } = endpoint
  const asker = who.needsBody === true ? undefined : who.admit(exchange, services)
  exchange.asker = asker instanceof Promise ? await asker : asker
  exchange.body = await body.read(exchange.ctx.req, exchange, services)
  try {
    if (who.needsBody === true) exchange.asker = await who.admit(exchange, services)
    return await endpoint.run(exchange, services)
  } finally {
    await body.release?.(exchange.body)
  }
}

/** A request on its way to its answer: what endpoints see of it (`Asked`), and what only this file does. */
class Exchange implements Asked<unknown, unknown> {
  readonly requestId: string
  readonly path: string
  readonly #started = performance.now()
  params: Readonly<Record<string, string>> = NONE
  endpoint: Pick<Endpoint, 'name' | 'family' | 'headers'> | undefined
  // What they hold is what the endpoint's own `who` and `body` made, for its own `run`.
  asker: unknown
  body: unknown
  #patience: Patience | undefined

  constructor(
    readonly ctx: Context,
    readonly arrival: Arrival,
    private readonly options: { readonly [Name in 'waits' | 'patience']: KoaOptions[Name] | undefined },
  ) {
    this.requestId = arrival.requestId
    this.path = arrival.path
  }

  get trace() {
    return this.arrival.trace
  }
  get target() {
    return this.ctx.req.url ?? ''
  }
  get search() {
    return this.arrival.search
  }
  get method() {
    return this.ctx.req.method ?? ''
  }
  get headers() {
    return this.ctx.req.headers
  }
  get address() {
    return this.ctx.ip
  }
  get peer() {
    return this.ctx.req.socket.remoteAddress ?? ''
  }
  waits(): AbortSignal {
    const { res } = this.ctx
    const over = new AbortController()
    if (res.destroyed || res.writableEnded) over.abort()
    else res.once('close', () => over.abort())
    this.options.waits?.(res)
    return over.signal
  }
  get patience() {
    return (this.#patience ??= new Patience(this.options.patience))
  }

  seen(status: number, bytes: number): Seen {
    const { endpoint, method, requestId, trace, ctx } = this
    return {
      endpoint: endpoint?.name,
      method,
      status,
      milliseconds: performance.now() - this.#started,
      bytes,
      account: accountOf(this.asker),
      requestId,
      trace,
      address: () => ctx.ip,
    }
  }
}

/** The account of whoever was let in as one. */
const accountOf = (asker: unknown): number | undefined =>
  typeof asker === 'object' && asker !== null && 'account' in asker && typeof asker.account === 'number'
    ? asker.account
    : undefined

/** Nobody has to be logged in to ask what can be asked: browsers ask it before they send credentials. */
function allowed({ headers, arrival }: Exchange, methods: string): Answer {
  const isPreflight = headers['access-control-request-method'] !== undefined
  const isOpen = isPreflight && arrival.headers.includes('Access-Control-Allow-Origin')
  return noContent({ Allow: methods, ...(isOpen && preflightHeaders(methods)) })
}

/** @returns the family that a path belongs to, whether or not there is anything at it */
function familiesOf<Service>(endpoints: readonly Endpoint<Service>[]): (path: string) => Family {
  const families = [...new Set(endpoints.map(({ family }) => family))]
  return (path) =>
    families.find(({ prefixes }) => prefixes.some((prefix) => path === prefix || path.startsWith(`${prefix}/`))) ??
    platform
}
