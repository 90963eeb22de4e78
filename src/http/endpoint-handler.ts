import type { ServerResponse } from 'node:http'
import { z } from 'zod'
import { WaitBudget } from '../projections/engine/progress.ts'
import type { RequestContext } from './middleware/context.ts'
import type { HttpResponse } from './kit/response.ts'
import type { HttpRequest, Endpoint } from './kit/endpoint.ts'
import { queryReader } from './kit/parameters/query.ts'
import { requireMediaType } from './kit/read-body.ts'
import { setResponse } from './middleware/responses.ts'
import type { EndpointHandler } from './routers.ts'

export type EndpointHandlerOptions = {
  /** Total milliseconds that one request may wait for read models. */
  readonly readModelTimeoutMs?: number | undefined
  /** Called when a request becomes a long poll and no longer counts as active work. */
  readonly onLongPoll?: ((res: ServerResponse) => void) | undefined
}

/** Authenticates a request, reads its body, calls the endpoint's handler and sets the response. */
export function createEndpointHandler<Service>(
  endpoint: Endpoint<Service>,
  fixedParams: Readonly<Record<string, string>>,
  services: Service,
  options: EndpointHandlerOptions,
): EndpointHandler {
  return async (ctx) => {
    const { state } = ctx
    state.endpoint = endpoint
    state.params = { ...fixedParams, ...ctx['params'] }
    ctx.set(endpoint.headers)
    setResponse(ctx, await runEndpoint(endpoint, ctx, services, options))
  }
}

async function runEndpoint<Service>(
  endpoint: Endpoint<Service>,
  ctx: RequestContext,
  services: Service,
  options: EndpointHandlerOptions,
): Promise<HttpResponse> {
  const { auth, body, query, group } = endpoint
  const request = new EndpointRequest(ctx, options)
  const authenticate = async () => {
    request.principal = ctx.state.principal = await auth.authenticate(request, services)
  }
  // Authenticate before reading the body, unless the body may contain the credentials.
  if (auth.needsBody !== true) await authenticate()
  if (query === undefined && group.refusesUnknownParameters && isRead(ctx) && ctx.querystring !== '')
    readNoParameters(ctx.querystring)
  if (body === undefined) return endpoint.handler(request, services)
  requireMediaType(ctx, body.mediaTypes)
  request.body = await body.read(ctx, request, services)
  try {
    if (auth.needsBody === true) await authenticate()
    return await endpoint.handler(request, services)
  } finally {
    await body.release?.(request.body)
  }
}

const isRead = ({ method }: RequestContext) => method === 'GET' || method === 'HEAD'

const readNoParameters = queryReader(z.object({}))

/** A class, because V8 gives each object literal with getters its own hidden class. */
class EndpointRequest implements HttpRequest<unknown, unknown> {
  readonly requestId: string
  readonly trace: string | undefined
  // Set by the endpoint's `auth` and `body`, so the handler of the same endpoint knows their types.
  principal: unknown
  body: unknown
  #waitBudget: WaitBudget | undefined

  constructor(
    private readonly ctx: RequestContext,
    private readonly options: EndpointHandlerOptions,
  ) {
    this.requestId = ctx.state.requestId
    this.trace = ctx.state.trace
  }

  get method() {
    return this.ctx.method
  }
  get path() {
    return this.ctx.path
  }
  get target() {
    return this.ctx.originalUrl
  }
  get search() {
    return this.ctx.querystring
  }
  get params() {
    return this.ctx.state.params ?? {}
  }
  get headers() {
    return this.ctx.headers
  }
  get clientAddress() {
    return this.ctx.ip
  }
  get peerAddress() {
    return this.ctx.req.socket.remoteAddress ?? ''
  }
  get waitBudget() {
    return (this.#waitBudget ??= new WaitBudget(this.options.readModelTimeoutMs))
  }

  accepts(...types: string[]) {
    return this.ctx.accepts(...types)
  }

  cookie(name: string) {
    return this.ctx.cookies.get(name)
  }

  beginLongPoll() {
    const { res } = this.ctx
    const abortController = new AbortController()
    if (res.destroyed || res.writableEnded) abortController.abort()
    else res.once('close', () => abortController.abort())
    this.options.onLongPoll?.(res)
    return abortController.signal
  }
}
