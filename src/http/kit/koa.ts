import type { IncomingMessage, RequestListener } from 'node:http'
import Koa, { type Context } from 'koa'
import { Refusal } from '../../domain/refusal.ts'
import { Patience } from '../../projections/engine/patience.ts'
import { noContent, type Answer, type Headers } from './answer.ts'
import { keptAsked, type Asked as Arrived } from './asked.ts'
import { preflightHeaders } from './cross-origin.ts'
import type { Asked, Endpoint, Family } from './endpoint.ts'
import { EveryAnswer } from './every-answer.ts'
import { owned, platform, refusedOf, RefusedWith, type LogError } from './errors.ts'
import { hostFault } from './host.ts'
import { Routes } from './routes.ts'
import { send } from './send.ts'

export type KoaOptions = {
  readonly log: LogError
  /** Number of proxies in front whose X-Forwarded-For is believed. */
  readonly trustProxy: number
}

export type Hosted = {
  readonly listener: RequestListener
  /** Whether there is anything at a request's path. */
  knows(req: IncomingMessage): boolean
}

/** Of the whole service (RFC 9110, 9.3.7). */
const METHODS = 'HEAD, GET, POST, PUT, PATCH, DELETE, OPTIONS'

const NONE: Headers = {}

/** Where endpoints stand alone. */
const PLAIN = new EveryAnswer()

/**
 * Answers every request to these endpoints, by one middleware of Koa: finds the endpoint, lets in who may ask, reads the
 * body, runs, and sends.
 * @param services what endpoints are answered from
 */
export function koaOf<Service>(
  endpoints: readonly Endpoint<Service>[],
  services: Service,
  { log, trustProxy }: KoaOptions,
): Hosted {
  const routes = new Routes(endpoints)
  const families = familiesOf(endpoints)
  const koa = new Koa({ proxy: trustProxy > 0, maxIpsCount: trustProxy })

  /** The one middleware. Each error is caught here: `koa.callback()` would add listeners to every answer for more of them. */
  function host(ctx: Context): unknown {
    ctx.respond = false
    const exchange = new Exchange(ctx, keptAsked(ctx.req) ?? PLAIN.asked(ctx.req))
    try {
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
        log(error, exchange.requestId, 500)
      } catch (worse) {
        log(worse, exchange.requestId, 500)
      }
      ctx.res.destroy()
    }
    return undefined
  }

  function answerTo(exchange: Exchange): Answer | Promise<Answer> {
    const { method, path } = exchange
    const fault = hostFault(exchange.ctx.req)
    if (fault !== undefined) throw new Refusal('malformed', fault)
    if (method === 'OPTIONS' && path === '*') return allowed(exchange, METHODS)
    if (!path.startsWith('/')) throw new Refusal('malformed', 'The request target is no address')
    const found = routes.find(method, path)
    exchange.usual = families(path).headers ?? NONE
    if (found === undefined) throw new Refusal('missing', `There is nothing at ${path.slice(0, 200)}`)
    if ('allow' in found) {
      if (method === 'OPTIONS') return allowed(exchange, found.allow)
      const wrong = new Refusal('not-allowed', `${method} is not possible here; ${found.allow} is`)
      throw new RefusedWith({ Allow: found.allow }, wrong)
    }
    const { endpoint, params } = found
    exchange.family = endpoint.family
    exchange.params = params
    exchange.usual = usualOf(endpoint)
    return perform(endpoint, exchange, services)
  }

  function refusal(exchange: Exchange, error: unknown): Answer {
    const cause = error instanceof RefusedWith ? error.error : error
    const refused = refusedOf(cause)
    const { status, headers, body } = (exchange.family ?? families(exchange.path)).refusal(refused, cause, exchange)
    if (refused.status >= 500) log(cause, exchange.requestId, refused.status)
    const retry = refused.retryAfter === undefined ? NONE : { 'Retry-After': String(refused.retryAfter) }
    const own = error instanceof RefusedWith ? error.headers : NONE
    return { status, headers: { ...retry, ...own, ...headers }, body }
  }

  function finish({ ctx, method, requestId, arrived, usual }: Exchange, answer: Answer): void {
    const { headers: every, accepts } = arrived
    send(ctx.res, answer, { method, requestId, every, usual, accepts }, (error) => log(error, requestId, 500))
  }

  return {
    listener: (req, res) => void host(koa.createContext(req, res)),
    knows({ method = '', url = '' }) {
      const [path = ''] = url.split('?', 1)
      return routes.find(method, path) !== undefined || ![platform, owned].includes(families(path))
    },
  }
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
  readonly path: string
  readonly search: string
  params: Readonly<Record<string, string>> = NONE
  family: Family | undefined
  usual: Headers = NONE
  // What they hold is what the endpoint's own `who` and `body` made, for its own `run`.
  asker: unknown
  body: unknown
  #patience: Patience | undefined

  constructor(
    readonly ctx: Context,
    readonly arrived: Arrived,
  ) {
    const target = ctx.req.url ?? ''
    const query = target.indexOf('?')
    this.path = query < 0 ? target : target.slice(0, query)
    this.search = query < 0 ? '' : target.slice(query + 1)
  }

  get requestId() {
    return this.arrived.requestId
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
  get patience() {
    return (this.#patience ??= new Patience())
  }
}

/** Nobody has to be logged in to ask what can be asked: browsers ask it before they send credentials. */
function allowed({ headers, arrived }: Exchange, methods: string): Answer {
  const isPreflight = headers['access-control-request-method'] !== undefined
  const isOpen = isPreflight && arrived.headers.includes('Access-Control-Allow-Origin')
  return noContent({ Allow: methods, ...(isOpen && preflightHeaders(methods)) })
}

const usuals = new WeakMap<object, Headers>()

/** Headers of every answer of an endpoint. */
function usualOf<Service>(endpoint: Endpoint<Service>): Headers {
  let usual = usuals.get(endpoint)
  if (usual === undefined) usuals.set(endpoint, (usual = { ...endpoint.family.headers, ...endpoint.headers }))
  return usual
}

/** @returns the family that a path belongs to, whether or not there is anything at it */
function familiesOf<Service>(endpoints: readonly Endpoint<Service>[]): (path: string) => Family {
  const families = [...new Set(endpoints.map(({ family }) => family))]
  return (path) =>
    families.find(({ prefixes }) => prefixes.some((prefix) => path === prefix || path.startsWith(`${prefix}/`))) ??
    platform
}
