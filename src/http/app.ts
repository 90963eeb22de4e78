import Koa from 'koa'
import { handle, type HandleOptions } from './handle.ts'
import type { Endpoint, Family } from './kit/endpoint.ts'
import { platform, type LogError } from './kit/errors.ts'
import { accessLog, type Seen } from './middleware/access-log.ts'
import { bodyBounds, plainPath, readableRequests, type BodyBounds } from './middleware/readable-requests.ts'
import { compression, conditionalGet } from './middleware/compression.ts'
import { identify, type Context, type Middleware, type State } from './middleware/context.ts'
import { cors, type Origins } from './middleware/cors.ts'
import { answerErrors, securityHeaders } from './middleware/answer.ts'
import { routed, routersOf, unrouted } from './routers.ts'

export type AppOptions = HandleOptions & {
  readonly log: LogError
  /** Proxies in front whose X-Forwarded-For is trusted. */
  readonly trustProxy: number
  /** Whether browsers are told to use https only. */
  readonly https?: boolean
  readonly origins?: Origins
  readonly bodies?: BodyBounds
  /** Called with each request when its answer was sent. */
  readonly seen?: (request: Seen) => void
}

/**
 * The service as a Koa application: what happens to a request, in order.
 * @param endpoints what can be asked
 * @param services what endpoints are answered from
 */
export function createApp<Service>(
  endpoints: readonly Endpoint<Service>[],
  services: Service,
  { log, trustProxy, https = false, origins = new Set(), bodies = {}, seen = () => undefined, ...options }: AppOptions,
): Koa<State> {
  const familyOf = familiesOf(endpoints)
  const app = new Koa<State>({ proxy: trustProxy > 0, maxIpsCount: trustProxy })
  const use = (middleware: Middleware) => app.use(middleware as Koa.Middleware<State>)
  use(identify())
  use(accessLog(seen))
  use(securityHeaders({ https }))
  use(compression())
  use(answerErrors({ log, familyOf }))
  use(plainPath())
  use(readableRequests())
  use(cors(origins))
  use(conditionalGet())
  use(bodyBounds(bodies))
  use(routed(routersOf(endpoints, (endpoint, fixed) => handle(endpoint, fixed, services, options))))
  use(unrouted(familyOf))
  // Koa tells of a stream that broke by its own error and by the end of the connection.
  const logged = new WeakSet<Error>()
  app.on('error', (error: NodeJS.ErrnoException, ctx?: Context) => {
    if (isHangUp(error) || logged.has(error)) return
    logged.add(error)
    log(error, ctx?.state.requestId ?? '', 500, ctx?.state.endpoint?.name)
  })
  return app
}

/** A client that hangs up is no fault of ours. */
const isHangUp = ({ code }: NodeJS.ErrnoException): boolean => HANG_UPS.has(code)

const HANG_UPS: ReadonlySet<string | undefined> = new Set(['EPIPE', 'ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE'])

/** @returns the family that a target's path belongs to, whether or not there is anything at it */
function familiesOf<Service>(endpoints: readonly Endpoint<Service>[]): (target: string) => Family {
  const families = [...new Set(endpoints.map(({ family }) => family))]
  return (target) => {
    const [path = ''] = target.split('?', 1)
    const isBelow = (prefix: string) => path === prefix || path.startsWith(`${prefix}/`)
    return families.find(({ prefixes }) => prefixes.some(isBelow)) ?? platform
  }
}
