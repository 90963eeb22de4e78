import { Router, type RouterContext } from '@koa/router'
import type { Next } from 'koa'
import { RequestError } from '../domain/decider.ts'
import { noContent } from './kit/response.ts'
import type { RequestContext, Middleware } from './middleware/context.ts'
import type { Endpoint, EndpointGroup } from './kit/endpoint.ts'
import { ErrorWithHeaders } from './kit/errors.ts'
import { expandPath, type ExpandedPath } from './kit/path-parameters.ts'
import { setResponse } from './middleware/responses.ts'

/** What runs an endpoint for a request, once its path was found. */
export type EndpointHandler = (ctx: RequestContext) => Promise<void>

/** Routers by the first segments of their paths. */
export type ResourceRouters = ReadonlyMap<string, Router>

/**
 * A router for each resource, filled from the table of endpoints. Its routes have the names of their endpoints.
 * @throws Error where two endpoints claim one method of one path
 */
export function createRouters<Service>(
  endpoints: readonly Endpoint<Service>[],
  handlerFor: (endpoint: Endpoint<Service>, fixedParams: ExpandedPath['fixedParams']) => EndpointHandler,
): ResourceRouters {
  const byResource = new Map<string, Router>()
  const claimed = new Map<string, string>()
  for (const { endpoint, path, fixedParams } of routesOf(endpoints)) {
    const { operationId, methods } = endpoint
    for (const method of methods) claim(claimed, `${method} ${path}`, operationId)
    const router = byResource.get(resourceOf(path)) ?? new Router({ sensitive: true })
    byResource.set(resourceOf(path), router)
    const handler = handlerFor(endpoint, fixedParams)
    const pattern = path.replaceAll(/\{(\w+)\}/g, ':$1')
    router.register(pattern, [...methods], onlyBestMatch(pattern, handler), { name: operationId })
  }
  return byResource
}

/**
 * A path that fits better counts for all methods: POST of /private/recent is not POST of /private/{key}.
 */
const onlyBestMatch =
  (pattern: string, handler: EndpointHandler) =>
  (ctx: RouterContext, next: Next): Promise<unknown> =>
    ctx.matched?.[0]?.path === pattern ? handler(ctx as unknown as RequestContext) : next()

/** The router that a request's path belongs to; undefined where there is none. */
export function routerFor(routers: ResourceRouters, path: string): Router | undefined {
  const [, first = '', second = ''] = path.split('/', 3)
  return routers.get(`/${first}/${second}`) ?? routers.get(`/${first}`)
}

/** Hands a request to the router of its resource, which compares it with the few routes of that alone. */
export function routing(routers: ResourceRouters): Middleware {
  const middlewares = new Map([...routers.values()].map((router) => [router, router.routes() as unknown as Middleware]))
  return (ctx, next) => {
    const router = routerFor(routers, ctx.path)
    return (router && middlewares.get(router)?.(ctx, next)) ?? next()
  }
}

/** Every path of every endpoint; those without braces first, since they fit better. */
function routesOf<Service>(endpoints: readonly Endpoint<Service>[]) {
  const routes = endpoints.flatMap((endpoint) =>
    endpoint.paths.flatMap((path) => expandPath(path, endpoint).map((expanded) => ({ endpoint, ...expanded }))),
  )
  return routes.toSorted((one, other) => countParameters(one.path) - countParameters(other.path))
}

const countParameters = (path: string) => path.split('{').length

/** Its first two segments, or the first alone where the second is in braces. */
const resourceOf = (path: string): string => /^\/[^/]*(?:\/[^/{]+)?/.exec(path)?.[0] ?? path

function claim(claimed: Map<string, string>, route: string, operationId: string): void {
  const other = claimed.get(route)
  if (other !== undefined) throw new Error(`${operationId} and ${other} both answer ${route}`)
  claimed.set(route, operationId)
}

/** Of the whole service (RFC 9110, 9.3.7). */
const METHODS = 'HEAD, GET, POST, PUT, PATCH, DELETE, OPTIONS'

/** Answers what no route has: OPTIONS, 405 with `Allow`, and 404. */
export function unmatchedRequests(findGroup: (target: string) => EndpointGroup): Middleware {
  return (ctx) => {
    const allow = ctx.url === '*' ? METHODS : findAllowedMethods(ctx)
    if (allow === undefined) throw new RequestError('missing', `There is nothing at ${ctx.path.slice(0, 200)}`)
    if (ctx.method === 'OPTIONS') return setResponse(ctx, noContent({ ...findGroup(ctx.url).headers, Allow: allow }))
    const wrong = new RequestError('not-allowed', `${ctx.method} is not possible here; ${allow} is`)
    throw new ErrorWithHeaders({ Allow: allow }, wrong)
  }
}

/** The methods of the path that fits best; undefined where none does. */
function findAllowedMethods({ matched = [] }: RequestContext): string | undefined {
  const [best] = matched
  if (best === undefined) return undefined
  const methods = matched.filter(({ path }) => path === best.path).flatMap((layer) => layer.methods)
  return [...new Set(methods), 'OPTIONS'].join(', ')
}
