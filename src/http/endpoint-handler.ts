import { z } from 'zod'
import { WaitBudget } from '../projections/engine/progress.ts'
import type { HttpResponse } from './kit/response.ts'
import type { Endpoint, EndpointContext } from './kit/endpoint.ts'
import { queryReader } from './kit/parameters/query.ts'
import { requireMediaType } from './kit/read-body.ts'
import { isRead, setResponse } from './middleware/responses.ts'
import type { EndpointHandler } from './routers.ts'

/**
 * Authenticates a request, reads its body, calls the endpoint's handler and sets the response.
 * @param readModelTimeoutMs total milliseconds that one request may wait for read models
 */
export function createEndpointHandler<Service>(
  endpoint: Endpoint<Service>,
  fixedParams: Readonly<Record<string, string>>,
  services: Service,
  readModelTimeoutMs?: number,
): EndpointHandler {
  return async (ctx) => {
    const { state } = ctx
    state.endpoint = endpoint
    state.waitBudget = new WaitBudget(readModelTimeoutMs)
    ctx.params = { ...fixedParams, ...ctx.params }
    ctx.set(endpoint.headers)
    setResponse(ctx, await runEndpoint(endpoint, ctx as EndpointContext, services))
  }
}

async function runEndpoint<Service>(
  endpoint: Endpoint<Service>,
  ctx: EndpointContext,
  services: Service,
): Promise<HttpResponse> {
  const { auth, body, query, group } = endpoint
  const authenticate = async () => {
    ctx.state.principal = await auth.authenticate(ctx, services)
  }
  // Authenticate before reading the body, unless the body may contain the credentials.
  if (auth.needsBody !== true) await authenticate()
  if (query === undefined && group.refusesUnknownParameters && isRead(ctx) && ctx.querystring !== '')
    readNoParameters(ctx.querystring)
  if (body === undefined) return endpoint.handler(ctx, services)
  requireMediaType(ctx, body.mediaTypes)
  ctx.request.body = await body.read(ctx, services)
  try {
    if (auth.needsBody === true) await authenticate()
    return await endpoint.handler(ctx, services)
  } finally {
    await body.release?.(ctx.request.body)
  }
}

const readNoParameters = queryReader(z.object({}))
