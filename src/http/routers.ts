import { Router, type RouterContext } from '@koa/router'
import type { Next } from 'koa'
import { RequestError } from '../domain/request-error.ts'
import { HttpError } from './kit/http-error.ts'
import { noContent } from './kit/response.ts'
import type { RequestContext, Middleware } from './middleware/context.ts'
import type { Endpoint, EndpointGroup } from './kit/endpoint.ts'
import { ErrorWithHeaders } from './kit/errors.ts'
import { expandPath, type ExpandedPath } from './kit/path-parameters.ts'
import { setResponse } from './middleware/responses.ts'

export type EndpointHandler = (ctx: RequestContext) => Promise<void>

/** Routers by the first one or two segments of their paths, such as `/v4/diamond`. */
type ResourceRouters = ReadonlyMap<string, Router>

/**
 * Creates one router for each resource. Routes are named after their endpoints' operation ids.
 * @throws Error if two endpoints have the same method and path
 */
export function createRouters<Service>(
  endpoints: readonly Endpoint<Service>[],
  handlerFor: (endpoint: Endpoint<Service>, fixedParams: ExpandedPath['fixedParams']) => EndpointHandler,
): ResourceRouters {
  const byResource = new Map<string, Router>()
  const operationByRoute = new Map<string, string>()
  for (const { endpoint, path, fixedParams } of routesOf(endpoints)) {
    const { operationId, methods } = endpoint
    for (const method of methods) claim(operationByRoute, `${method} ${path}`, operationId)
    const router = byResource.get(resourceOf(path)) ?? new Router({ sensitive: true })
    byResource.set(resourceOf(path), router)
    const handler = handlerFor(endpoint, fixedParams)
    const pattern = path.replaceAll(/\{(\w+)\}/g, ':$1')
    router.register(pattern, [...methods], onlyBestMatch(pattern, handler), { name: operationId })
  }
  return byResource
}

/**
 * The most specific path wins for every method: POST /private/recent is 405 and does not fall through to
 * POST /private/{key}.
 */
const onlyBestMatch =
  (pattern: string, handler: EndpointHandler) =>
  (ctx: RouterContext, next: Next): Promise<unknown> =>
    ctx.matched?.[0]?.path === pattern ? handler(ctx as unknown as RequestContext) : next()

/** @returns undefined if no resource has this path */
export function routerFor(routers: ResourceRouters, path: string): Router | undefined {
  const [, first = '', second = ''] = path.split('/', 3)
  return routers.get(`/${first}/${second}`) ?? routers.get(`/${first}`)
}

/** Passes a request to the router of its resource, so that it is matched only against the routes of that resource. */
export function routing(routers: ResourceRouters): Middleware {
  const middlewares = new Map([...routers.values()].map((router) => [router, router.routes() as unknown as Middleware]))
  return (ctx, next) => {
    const router = routerFor(routers, ctx.path)
    return (router && middlewares.get(router)?.(ctx, next)) ?? next()
  }
}

/** Every path of every endpoint; paths with fewer parameters first, because they are more specific. */
function routesOf<Service>(endpoints: readonly Endpoint<Service>[]) {
  const routes = endpoints.flatMap((endpoint) =>
    endpoint.paths.flatMap((path) => expandPath(path, endpoint).map((expanded) => ({ endpoint, ...expanded }))),
  )
  return routes.toSorted((one, other) => countParameters(one.path) - countParameters(other.path))
}

const countParameters = (path: string) => path.split('{').length

/** The first two segments of a path, or only the first if the second is a parameter. */
const resourceOf = (path: string): string => /^\/[^/]*(?:\/[^/{]+)?/.exec(path)?.[0] ?? path

function claim(operationByRoute: Map<string, string>, route: string, operationId: string): void {
  const other = operationByRoute.get(route)
  if (other !== undefined) throw new Error(`${operationId} and ${other} both declare ${route}`)
  operationByRoute.set(route, operationId)
}

/** `Allow` for `OPTIONS *` (RFC 9110, section 9.3.7). */
const METHODS = 'HEAD, GET, POST, PUT, PATCH, DELETE, OPTIONS'

/** Responds to requests that no route handles: OPTIONS, 405 with `Allow`, and 404. */
export function unmatchedRequests(findGroup: (target: string) => EndpointGroup): Middleware {
  return (ctx) => {
    const allow = ctx.url === '*' ? METHODS : findAllowedMethods(ctx)
    if (allow === undefined)
      throw new RequestError('missing', `Not found: ${(ctx.originalUrl.split('?', 1)[0] ?? '').slice(0, 200)}`)
    if (ctx.method === 'OPTIONS') return setResponse(ctx, noContent({ ...findGroup(ctx.url).headers, Allow: allow }))
    const error = new HttpError(405, `Method ${ctx.method} is not allowed; allowed: ${allow}`)
    throw new ErrorWithHeaders({ Allow: allow }, error)
  }
}

/** The methods of the most specific matching path; undefined if no path matches. */
function findAllowedMethods({ matched = [] }: RequestContext): string | undefined {
  const [best] = matched
  if (best === undefined) return undefined
  const methods = matched.filter(({ path }) => path === best.path).flatMap((route) => route.methods)
  return [...new Set(methods), 'OPTIONS'].join(', ')
}
