import { randomUUID } from 'node:crypto'
import { createServer, STATUS_CODES, type RequestListener, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { networkOf } from '../../credentials/failed-attempt-limiter.ts'
import { FairShare } from '../../runtime/fairness/fair-share.ts'
import { VERSION } from '../../runtime/version.ts'

/** One year. Sent without includeSubDomains, because other hosts of the domain are not part of this service. */
const HSTS_MAX_AGE_SECONDS = 31_536_000

/** Headers of every response, including those to requests that are not valid HTTP. */
export const fixedHeaders = (https: boolean): Record<string, string> => ({
  'X-App-Version': VERSION,
  'X-Content-Type-Options': 'nosniff',
  ...(https && { 'Strict-Transport-Security': `max-age=${HSTS_MAX_AGE_SECONDS}` }),
})

/** A batch ends after this many requests or milliseconds, so that timers can run. */
const MAX_BATCH_REQUESTS = 64
const BATCH_SLICE_MS = 5

/**
 * Batches calls: runs all that arrive in one poll phase of the event loop in one callback. The stores check once per
 * callback whether another process has written (stores/sqlite/change-detection.ts); batched requests share that check of three
 * files, and it still happens after each of them arrived.
 * @param monotonicClock in milliseconds
 */
export function batchCalls<Request extends readonly unknown[]>(
  handle: (...request: Request) => void,
  monotonicClock: () => number = () => performance.now(),
): (...request: Request) => void {
  let queue: Request[] = []

  function runBatch(): void {
    const batch = queue
    queue = []
    const deadline = monotonicClock() + BATCH_SLICE_MS
    for (const [index, request] of batch.entries()) {
      if (index === MAX_BATCH_REQUESTS || (index > 0 && monotonicClock() >= deadline)) {
        queue = [...batch.slice(index), ...queue]
        setImmediate(runBatch)
        return
      }
      handle(...request)
    }
  }

  return (...request) => {
    if (queue.push(request) === 1) setImmediate(runBatch)
  }
}

/** Batches the requests of a server. Skips clients that disconnected in the meantime, since no event will report that. */
export const batchRequests = (listener: RequestListener): RequestListener =>
  batchCalls((req, res) => {
    if (!req.socket.destroyed) listener(req, res)
  })

/** Bytes of request line and headers. A percent-encoded secret of 10,000 characters fits into the query. */
const HEADER_LIMIT = 256 * 1024 + 16 * 1024

export type ListeningServer = {
  readonly host: string
  readonly port: number
  /** Number of connections closed so far because of the connection limits. */
  refusedConnectionCount(): number
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

/**
 * Starts the HTTP server.
 * @param createListener called with the actual port, before the first request is handled
 * @param https sends HSTS
 * @throws the system's error, such as EADDRINUSE
 */
export async function listen(
  createListener: (port: number) => RequestListener,
  host: string,
  port: number,
  timeouts = DEFAULT_TIMEOUTS,
  https = false,
  bounds: ConnectionBounds = CONNECTIONS,
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
  const sockets = new DetachedSockets(timeouts.lingerMs)
  sockets.track(server)
  const refusedConnectionCount = boundConnections(server, bounds)
  server.on('clientError', (error, socket) => respondToParserError(sockets, error, socket, https))
  server.on('connect', (_request, socket) => sockets.respondAndClose(socket, rawErrorResponse(400, https)))
  // Unknown expectations may be ignored (RFC 9110, section 10.1.1); Node would respond 417.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  await new Promise<void>((done, fail) => {
    server.once('error', fail)
    server.listen(port, host, () => {
      server.on('request', batchRequests(createListener((server.address() as AddressInfo).port)))
      done()
    })
  })
  return {
    host,
    port: (server.address() as AddressInfo).port,
    refusedConnectionCount,
    stop: () => drain(server, timeouts.drainMs),
  }
}

/** Responds to requests that the HTTP parser rejects: with version, request id and an error body, as elsewhere. */
function respondToParserError(
  sockets: DetachedSockets,
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

/**
 * Handles sockets from which Node has removed its listeners, after `connect`, `upgrade` or `clientError`. An unhandled error
 * of such a socket ends the process: a `CONNECT` request followed by a connection reset is enough.
 */
class DetachedSockets {
  readonly #responses = new WeakMap<Duplex, ServerResponse>()

  constructor(private readonly lingerMs: number) {}

  /** Adds an error listener to every connection for its whole life. */
  track(server: Server): void {
    server.on('connection', (socket) => socket.on('error', () => socket.destroy()))
    server.prependListener('request', (req, res) => void this.#responses.set(req.socket, res))
  }

  /** Sends a final response and closes the connection. If another response is being sent, only closes the connection. */
  respondAndClose(socket: Duplex, response: string): void {
    // The client sent more after the rejected request; the response is already on its way.
    if (socket.writableEnded) return
    if (!socket.writable || this.#isResponding(socket)) return void socket.destroy()
    const timeout = setTimeout(() => socket.destroy(), this.lingerMs).unref()
    socket.once('close', () => clearTimeout(timeout))
    socket.end(response)
    // Closing a socket with unread data resets the connection, and the client loses the response.
    socket.resume()
  }

  #isResponding(socket: Duplex): boolean {
    const response = this.#responses.get(socket)
    return response !== undefined && response.headersSent && !response.writableFinished
  }
}

export type ConnectionBounds = {
  /** Concurrent connections. */
  readonly maxConnections: number
  /** Limits each client address too. False behind a proxy, where all connections come from its address. */
  readonly isPerAddress: boolean
}

/** Each connection takes about 15 KB (60 MB in all) and a file descriptor, within the usual default limit of a process. */
const CONNECTIONS: ConnectionBounds = { maxConnections: 4_096, isPerAddress: true }

/**
 * Limits connections: an address may have at most as many as remain for all other addresses. Closes excess ones immediately.
 * @returns reads the number of connections closed so far
 */
function boundConnections(server: Server, { maxConnections, isPerAddress }: ConnectionBounds): () => number {
  const share = new FairShare(maxConnections)
  let refusedCount = 0
  server.on('connection', (socket) => {
    const allocation = share.openAllocation(isPerAddress ? [networkOf(socket.remoteAddress ?? '')] : [])
    if (allocation.tryTake(1)) {
      socket.once('close', () => allocation.release())
      return
    }
    refusedCount++
    socket.destroy()
  })
  return () => refusedCount
}
