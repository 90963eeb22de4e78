import { Router } from '@koa/router'
import { createServer, type RequestListener } from 'node:http'
import { ENDPOINTS } from '../../src/http/endpoints.ts'
import { ok } from '../../src/http/kit/answer.ts'
import { anybody } from '../../src/http/kit/endpoint.ts'
import { koaOf, listenerOf } from '../../src/http/kit/koa.ts'

/** An answer of the length that a diamond's has. */
const ANSWER = ok({ filling: 'x'.repeat(600) }, { ETag: '"0.0"' })

/** Every path of the service, each of which answers the same to everybody: what is left is what hosting costs. */
const koa = koaOf(
  ENDPOINTS.map((one) => ({ ...one, who: anybody, run: () => ANSWER })),
  undefined,
  { log: (error) => console.error(error), trustProxy: 1 },
)

/** `node main.js KIND PORT`: serves until it is ended; prints a line when it listens. */
const KINDS: Readonly<Record<string, () => RequestListener>> = {
  ours: () => listenerOf(koa),
  callback: () => koa.callback(),
  router: routed,
}

/** As ours, behind @koa/router with a router for each resource, the first two segments of a path, found by a look-up. */
function routed(): RequestListener {
  const host = koa.middleware[0] ?? (() => undefined)
  const routers = new Map<string, Router>()
  for (const { paths, methods } of ENDPOINTS) {
    for (const path of paths.flatMap((one) => ['v3', 'v4'].map((version) => one.replace('{version}', version)))) {
      const router = routers.get(resourceOf(path)) ?? new Router()
      routers.set(resourceOf(path), router)
      router.register(path.replaceAll(/\{(\w+)\}/g, ':$1'), [...methods], (ctx, next) => host(ctx, next))
    }
  }
  const handlers = new Map([...routers].map(([resource, router]) => [resource, router.routes()]))
  const next = async () => undefined
  return (req, res) => {
    const ctx = koa.createContext(req, res)
    void handlers.get(resourceOf(req.url ?? ''))?.(ctx as never, next)
  }
}

const resourceOf = (path: string) => path.split('/', 3).join('/')

const [kind = '', port = '0'] = process.argv.slice(2)
const listener = KINDS[kind]?.()
if (listener === undefined) throw new Error(`there is no ${kind}; there are ${Object.keys(KINDS).join(', ')}`)
createServer(listener).listen(Number(port), '127.0.0.1', () => console.log('listening'))
