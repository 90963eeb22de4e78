import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, STATUS_CODES, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { networkOf } from '../../credentials/failed-attempt-limiter.ts'
import { FairShare } from '../../runtime/fairness/fair-share.ts'
import { VERSION } from '../../runtime/version.ts'
import { PipelinedConnection, type Exchange } from './pipelining.ts'
import { batchRequests } from './request-batches.ts'

/** One year. Sent without includeSubDomains, because other hosts of the domain are not part of this service. */
const HSTS_MAX_AGE_SECONDS = 31_536_000

/** Headers of every response, including those to requests that are not valid HTTP. */
export const fixedHeaders = (https: boolean): Record<string, string> => ({
  'X-App-Version': VERSION,
  'X-Content-Type-Options': 'nosniff',
  ...(https && { 'Strict-Transport-Security': `max-age=${HSTS_MAX_AGE_SECONDS}` }),
})

/** Bytes of request line and headers. A percent-encoded secret of 10,000 characters fits into the query. */
const HEADER_LIMIT = 256 * 1024 + 16 * 1024

export type ListeningServer = {
  readonly host: string
  readonly port: number
  /** Passes further requests to another listener. */
  serve(listener: RequestListener): void
  /** Stops accepting connections, waits up to 5 s for requests in progress, then closes. */
  stop(): Promise<void>
}

export type ServerTimeouts = {
  /** Time to receive the headers, and the whole request. */
  readonly headersMs: number
  readonly requestMs: number
  /** Interval between checks for timed-out connections. */
  readonly checkIntervalMs: number
  /** Time for a rejected client to read the response before the connection is closed. */
  readonly lingerMs: number
  /** Time for requests in progress to finish when the server stops. */
  readonly drainMs: number
}

const DEFAULT_TIMEOUTS: ServerTimeouts = {
  headersMs: 60_000,
  requestMs: 300_000,
  checkIntervalMs: 10_000,
  lingerMs: 2_000,
  drainMs: 5_000,
}

type ListenOptions = {
  readonly host: string
  /** 0: any free one. */
  readonly port: number
  /** Sends HSTS. */
  readonly https?: boolean
  readonly timeouts?: ServerTimeouts
  readonly limits?: ConnectionLimits
}

/** Starts the HTTP server. @throws the system's error, such as EADDRINUSE */
export async function listen(
  firstListener: RequestListener,
  { host, port, https = false, timeouts = DEFAULT_TIMEOUTS, limits = CONNECTION_LIMITS }: ListenOptions,
): Promise<ListeningServer> {
  const server = createServer({
    maxHeaderSize: HEADER_LIMIT,
    keepAliveTimeout: 65_000,
    headersTimeout: timeouts.headersMs,
    requestTimeout: timeouts.requestMs,
    connectionsCheckingInterval: timeouts.checkIntervalMs,
    // Node's own response to a request without Host lacks our headers; `validateRequests` checks it instead.
    requireHostHeader: false,
  })
  const connections = new Connections(limits)
  const rejecting = new RejectedSockets(connections, timeouts.lingerMs)
  server.on('connection', (socket) => connections.accept(socket))
  server.on('clientError', (error, socket) => respondToParserError(rejecting, error, socket, https))
  server.on('connect', (_request, socket) => rejecting.respondAndClose(socket, rawErrorResponse(400, https)))
  // Unknown expectations may be ignored (RFC 9110, section 10.1.1); Node would respond 417.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  let listener = firstListener
  connections.serve(server, (req, res) => listener(req, res))
  server.listen(port, host)
  await once(server, 'listening')
  return {
    host,
    port: (server.address() as AddressInfo).port,
    serve: (next) => void (listener = next),
    stop: () => drain(server, timeouts.drainMs),
  }
}

/** Responds to requests that the HTTP parser rejects: with version, request id and an error body, as elsewhere. */
function respondToParserError(
  sockets: RejectedSockets,
  error: Error & { code?: string },
  socket: Duplex,
  https: boolean,
): void {
  if (error.code === 'ECONNRESET') socket.destroy()
  else if (error.code === 'HPE_HEADER_OVERFLOW') sockets.respondAndClose(socket, rawErrorResponse(431, https))
  else sockets.respondAndClose(socket, rawErrorResponse(error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400, https))
}

function rawErrorResponse(status: keyof typeof MESSAGES, https: boolean): string {
  const requestId = randomUUID()
  const body = JSON.stringify({ error: [MESSAGES[status]], requestId })
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    ...Object.entries(fixedHeaders(https)).map(([name, value]) => `${name}: ${value}`),
    `X-Request-Id: ${requestId}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    '',
    body,
  ].join('\r\n')
}

const MESSAGES = {
  400: 'The request is not valid HTTP/1.1',
  408: 'Timed out waiting for the request',
  431: `The request line and headers must be at most ${HEADER_LIMIT} bytes`,
} as const

/** Drains the server: further responses on persistent connections have `Connection: close`. */
async function drain(server: Server, timeoutMs: number): Promise<void> {
  const closed = new Promise<void>((done) => server.close(() => done()))
  server.prependListener('request', (_request, response) => response.setHeader('Connection', 'close'))
  server.closeIdleConnections()
  const sweep = setInterval(() => server.closeIdleConnections(), IDLE_SWEEP_INTERVAL_MS)
  const forceClose = setTimeout(() => server.closeAllConnections(), timeoutMs)
  await closed
  clearInterval(sweep)
  clearTimeout(forceClose)
}

const IDLE_SWEEP_INTERVAL_MS = 50

/** Rejects what Node's parser does not accept as a request: `connect` and `clientError`. */
class RejectedSockets {
  constructor(
    private readonly connections: Connections,
    private readonly lingerMs: number,
  ) {}

  /** Sends a final response and closes the connection. If another response is being sent, only closes the connection. */
  respondAndClose(socket: Duplex, response: string): void {
    const connection = this.connections.of(socket)
    connection?.detach()
    // The client sent more after the rejected request; the response is already on its way.
    if (socket.writableEnded) return
    if (!socket.writable || connection?.isResponding === true) return void socket.destroy()
    const timeout = setTimeout(() => socket.destroy(), this.lingerMs).unref()
    socket.once('close', () => clearTimeout(timeout))
    socket.end(response)
    // Closing a socket with unread data resets the connection, and the client loses the response.
    socket.resume()
  }
}

type ConnectionLimits = {
  /** Concurrent connections. */
  readonly maxConnections: number
  /** Connections with pipelined requests that wait. Each takes at most 128 KiB of received bytes. */
  readonly maxPipelining: number
  /**
   * The number of reverse proxies before the service, as in TRUST_PROXY. Without one, each client address has a share of
   * the connections; behind one, all connections come from its address, and the clients share the turns of requests.
   */
  readonly trustProxy: number
  /** Called for each connection that is closed because of these limits. */
  readonly onRefused?: () => void
}

/** Each connection takes about 15 KB (60 MB in all) and a file descriptor, within the usual default limit of a process. */
export const CONNECTION_LIMITS: ConnectionLimits = { maxConnections: 4_096, maxPipelining: 1_024, trustProxy: 0 }

/** All connections of a server, within limits that are shared fairly among client addresses. */
class Connections {
  readonly #connections = new WeakMap<Duplex, PipelinedConnection>()
  readonly #places: FairShare
  readonly #pipeliningPlaces: FairShare
  #hasAccepted = false

  constructor(private readonly limits: ConnectionLimits) {
    this.#places = new FairShare(limits.maxConnections)
    this.#pipeliningPlaces = new FairShare(limits.maxPipelining)
  }

  of(socket: Duplex): PipelinedConnection | undefined {
    return this.#connections.get(socket)
  }

  /** Closes the connection if its client address has too many. */
  accept(socket: Socket): void {
    this.#hasAccepted = true
    // Node removes its own listener after `connect` and `clientError`, and an error without a listener ends the process: a
    // CONNECT request followed by a connection reset is enough.
    socket.on('error', () => socket.destroy())
    const network = networkOf(socket.remoteAddress ?? '')
    const names = this.limits.trustProxy === 0 ? [network] : []
    const place = this.#places.openAllocation(names)
    if (!place.tryTake(1)) return this.#refuse(socket)
    socket.once('close', () => place.release())
    const pipeliningPlace = this.#pipeliningPlaces.openAllocation(names)
    const onRefused = () => this.#refuse(socket)
    this.#connections.set(socket, new PipelinedConnection(socket, { network, pipeliningPlace, onRefused }))
  }

  /** Passes the requests of the server's connections to a listener: one at a time of each connection, the clients in turn. */
  serve(server: Server, listener: RequestListener): void {
    const startExchange = ({ req, res }: Exchange) => {
      // No event will report that the client has disconnected in the meantime.
      if (!req.socket.destroyed) listener(req, res)
    }
    const isAccepting = () => {
      const hasAccepted = this.#hasAccepted
      this.#hasAccepted = false
      return hasAccepted
    }
    const start = batchRequests(startExchange, isAccepting)
    server.on('request', (req, res) => {
      const connection = this.#connections.get(req.socket)
      connection?.add({ req, res }, (exchange) => start(this.#clientOf(exchange.req, connection), exchange))
    })
  }

  #refuse(socket: Socket): void {
    this.limits.onRefused?.()
    socket.destroy()
  }

  /** The client whose turn a request takes: the address that the outermost trusted proxy has seen, or the connection's. */
  #clientOf({ headers }: IncomingMessage, { network }: PipelinedConnection): string {
    const { trustProxy } = this.limits
    const forwarded = headers['x-forwarded-for']
    if (trustProxy === 0 || typeof forwarded !== 'string') return network
    return networkOf(forwarded.split(',').slice(-trustProxy)[0]?.trim() ?? '')
  }
}
