import { Router, type RouterContext } from '@koa/router'
import type { Next } from 'koa'
import { Refusal } from '../domain/decider.ts'
import { noContent } from './kit/answer.ts'
import type { Context, Middleware } from './middleware/context.ts'
import type { Endpoint, Family } from './kit/endpoint.ts'
import { RefusedWith } from './kit/errors.ts'
import { writtenOut, type WrittenOut } from './kit/paths.ts'
import { setAnswer } from './middleware/answer.ts'

/** What runs an endpoint for a request, once its path was found. */
export type Handler = (ctx: Context) => Promise<void>

/** Routers by the first segments of their paths. */
export type Routers = ReadonlyMap<string, Router>

/**
 * A router for each resource, filled from the table of endpoints. Its routes have the names of their endpoints.
 * @throws Error where two endpoints claim one method of one path
 */
export function routersOf<Service>(
  endpoints: readonly Endpoint<Service>[],
  handlerFor: (endpoint: Endpoint<Service>, fixed: WrittenOut['fixed']) => Handler,
): Routers {
  const byResource = new Map<string, Router>()
  const claimed = new Map<string, string>()
  for (const { endpoint, path, fixed } of routesOf(endpoints)) {
    const { name, methods } = endpoint
    for (const method of methods) claim(claimed, `${method} ${path}`, name)
    const router = byResource.get(resourceOf(path)) ?? new Router({ sensitive: true })
    byResource.set(resourceOf(path), router)
    const handler = handlerFor(endpoint, fixed)
    const pattern = path.replaceAll(/\{(\w+)\}/g, ':$1')
    router.register(pattern, [...methods], only(pattern, handler), { name })
  }
  return byResource
}

/**
 * A path that fits better counts for all methods: POST of /private/recent is not POST of /private/{key}.
 */
const only =
  (pattern: string, handler: Handler) =>
  (ctx: RouterContext, next: Next): Promise<unknown> =>
    ctx.matched?.[0]?.path === pattern ? handler(ctx as unknown as Context) : next()

/** The router that a request's path belongs to; undefined where there is none. */
export function routerFor(routers: Routers, path: string): Router | undefined {
  const [, first = '', second = ''] = path.split('/', 3)
  return routers.get(`/${first}/${second}`) ?? routers.get(`/${first}`)
}

/** Hands a request to the router of its resource, which compares it with the few routes of that alone. */
export function routed(routers: Routers): Middleware {
  const middlewares = new Map([...routers.values()].map((router) => [router, router.routes() as unknown as Middleware]))
  return (ctx, next) => {
    const router = routerFor(routers, ctx.path)
    return (router && middlewares.get(router)?.(ctx, next)) ?? next()
  }
}

/** Every path of every endpoint; those without braces first, since they fit better. */
function routesOf<Service>(endpoints: readonly Endpoint<Service>[]) {
  const routes = endpoints.flatMap((endpoint) =>
    endpoint.paths.flatMap((path) => writtenOut(path, endpoint).map((way) => ({ endpoint, ...way }))),
  )
  return routes.toSorted((one, other) => bracesIn(one.path) - bracesIn(other.path))
}

const bracesIn = (path: string) => path.split('{').length

/** Its first two segments, or the first alone where the second is in braces. */
const resourceOf = (path: string): string => /^\/[^/]*(?:\/[^/{]+)?/.exec(path)?.[0] ?? path

function claim(claimed: Map<string, string>, route: string, name: string): void {
  const other = claimed.get(route)
  if (other !== undefined) throw new Error(`${name} and ${other} both answer ${route}`)
  claimed.set(route, name)
}

/** Of the whole service (RFC 9110, 9.3.7). */
const METHODS = 'HEAD, GET, POST, PUT, PATCH, DELETE, OPTIONS'

/** Answers what no route has: OPTIONS, 405 with `Allow`, and 404. */
export function unrouted(familyOf: (target: string) => Family): Middleware {
  return (ctx) => {
    const allow = ctx.url === '*' ? METHODS : allowOf(ctx)
    if (allow === undefined) throw new Refusal('missing', `There is nothing at ${ctx.path.slice(0, 200)}`)
    if (ctx.method === 'OPTIONS') return setAnswer(ctx, noContent({ ...familyOf(ctx.url).headers, Allow: allow }))
    const wrong = new Refusal('not-allowed', `${ctx.method} is not possible here; ${allow} is`)
    throw new RefusedWith({ Allow: allow }, wrong)
  }
}

/** The methods of the path that fits best; undefined where none does. */
function allowOf({ matched = [] }: Context): string | undefined {
  const [best] = matched
  if (best === undefined) return undefined
  const methods = matched.filter(({ path }) => path === best.path).flatMap((layer) => layer.methods)
  return [...new Set(methods), 'OPTIONS'].join(', ')
}
