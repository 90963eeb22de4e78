import Koa from 'koa'
import { createEndpointHandler } from './endpoint-handler.ts'
import type { Endpoint, EndpointGroup, RequestState } from './kit/endpoint.ts'
import { platformGroup, type ErrorLogger } from './kit/errors.ts'
import { accessLog, type RequestLogEntry } from './middleware/access-log.ts'
import { bodyBounds, normalizePath, validateRequests, type BodyBounds } from './middleware/request-validation.ts'
import { compression, conditionalGet } from './middleware/compression.ts'
import { assignRequestId, type RequestContext, type Middleware } from './middleware/context.ts'
import { cors, type AllowedOrigins } from './middleware/cors.ts'
import { responseBounds } from './middleware/response-bounds.ts'
import { handleErrors, securityHeaders } from './middleware/responses.ts'
import { routing, createRouters, unmatchedRequests } from './routers.ts'

type AppOptions = {
  /** Total milliseconds that one request may wait for read models. */
  readonly readModelTimeoutMs?: number | undefined
  readonly log: ErrorLogger
  /** Number of reverse proxies whose X-Forwarded-For entries are trusted. */
  readonly trustProxy: number
  /** Sends HSTS (Strict-Transport-Security). */
  readonly https?: boolean
  readonly allowedOrigins?: AllowedOrigins
  readonly bodies?: BodyBounds
  /** Memory for all responses that are not sent yet. */
  readonly responseMemoryBytes?: number
  /** Called for each request once its response was sent or its client disconnected. */
  readonly onResponse?: (request: RequestLogEntry) => void
}

/** Creates the Koa application: the middleware in the order in which it runs, then the routers. */
export function createApp<Service>(
  endpoints: readonly Endpoint<Service>[],
  services: Service,
  {
    log,
    trustProxy,
    https = false,
    allowedOrigins = new Set(),
    bodies = {},
    responseMemoryBytes,
    onResponse = () => undefined,
    readModelTimeoutMs,
  }: AppOptions,
): Koa<RequestState> {
  const findGroup = createGroupFinder(endpoints)
  const app = new Koa<RequestState>({ proxy: trustProxy > 0, maxIpsCount: trustProxy })
  const use = (middleware: Middleware) => app.use(middleware as Koa.Middleware<RequestState>)
  use(assignRequestId())
  use(accessLog(onResponse))
  use(securityHeaders({ https }))
  use(compression())
  use(handleErrors({ log, findGroup }))
  use(normalizePath())
  use(validateRequests())
  use(cors(allowedOrigins))
  use(responseBounds(responseMemoryBytes))
  use(conditionalGet())
  use(bodyBounds(bodies))
  use(
    routing(
      createRouters(endpoints, (endpoint, fixedParams) =>
        createEndpointHandler(endpoint, fixedParams, services, readModelTimeoutMs),
      ),
    ),
  )
  use(unmatchedRequests(findGroup))
  // Koa reports a failed response stream twice: by the stream's own error and by the closed connection.
  const logged = new WeakSet<Error>()
  app.on('error', (error: NodeJS.ErrnoException, ctx?: RequestContext) => {
    if (isClientDisconnect(error) || logged.has(error)) return
    logged.add(error)
    log(error, ctx?.state.requestId ?? '', 500, ctx?.state.endpoint?.operationId)
  })
  return app
}

const isClientDisconnect = ({ code }: NodeJS.ErrnoException): boolean => CLIENT_DISCONNECT_CODES.has(code)

const CLIENT_DISCONNECT_CODES: ReadonlySet<string | undefined> = new Set([
  'EPIPE',
  'ECONNRESET',
  'ERR_STREAM_PREMATURE_CLOSE',
])

/** @returns the endpoint group by path prefix, also for paths without an endpoint */
function createGroupFinder<Service>(endpoints: readonly Endpoint<Service>[]): (target: string) => EndpointGroup {
  const groups = [...new Set(endpoints.map(({ group }) => group))]
  return (target) => {
    const [path = ''] = target.split('?', 1)
    const isBelow = (prefix: string) => path === prefix || path.startsWith(`${prefix}/`)
    return groups.find(({ pathPrefixes }) => pathPrefixes.some(isBelow)) ?? platformGroup
  }
}
