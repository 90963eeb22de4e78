import { randomUUID } from 'node:crypto'
import { createServer, STATUS_CODES, type RequestListener, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { networkOf } from '../../credentials/failed-attempt-limiter.ts'
import { FairShare } from '../../runtime/fairness/fair-share.ts'
import { VERSION } from '../../runtime/version.ts'

/** Seconds that a browser remembers to come by https: a year. Other names of the domain are not ours to speak for. */
const HSTS_MAX_AGE_SECONDS = 31_536_000

/** Headers of every answer, also where the request was not readable as HTTP. */
export const fixedHeaders = (https: boolean): Record<string, string> => ({
  'X-App-Version': VERSION,
  'X-Content-Type-Options': 'nosniff',
  ...(https && { 'Strict-Transport-Security': `max-age=${HSTS_MAX_AGE_SECONDS}` }),
})

/** Requests that are begun in one go, and milliseconds after which the others wait for the next: timers come between. */
const MAX_BATCH_REQUESTS = 64
const BATCH_SLICE_MS = 5

/**
 * Begins requests behind the poll that has brought them, all in one callback. Before each answer the stores are asked
 * whether another process has written, once a callback (stores/sqlite/changes.ts): these requests share the asking, which
 * comes behind the arrival of each, where every one by itself asked three files.
 * @param monotonic milliseconds that never go back
 */
export function batchCalls<Request extends readonly unknown[]>(
  begin: (...request: Request) => void,
  monotonic: () => number = () => performance.now(),
): (...request: Request) => void {
  let arrived: Request[] = []

  function beginAll(): void {
    const now = arrived
    arrived = []
    const until = monotonic() + BATCH_SLICE_MS
    for (const [index, request] of now.entries()) {
      if (index === MAX_BATCH_REQUESTS || (index > 0 && monotonic() >= until)) {
        arrived = [...now.slice(index), ...arrived]
        setImmediate(beginAll)
        return
      }
      begin(...request)
    }
  }

  return (...request) => {
    if (arrived.push(request) === 1) setImmediate(beginAll)
  }
}

/** The same for a server's requests: whoever has hung up meanwhile wants nothing, and no event tells of it any more. */
export const batchRequests = (answer: RequestListener): RequestListener =>
  batchCalls((req, res) => {
    if (!req.socket.destroyed) answer(req, res)
  })

/** Bytes of a request's line and headers: 10,000 characters of a secret fit into a query, percent-encoded. */
const HEADER_LIMIT = 256 * 1024 + 16 * 1024

export type ListeningServer = {
  readonly host: string
  readonly port: number
  /** Connections that were closed because there were too many, so far. */
  refusedConnectionCount(): number
  /** Accepts nothing new, waits for what is under way, at most 5 s, and closes. */
  stop(): Promise<void>
}

/** Milliseconds. */
export type ServerTimeouts = {
  /** For a client's headers, and for its whole request. */
  readonly headersMs: number
  readonly requestMs: number
  /** Between two looks at who is late. */
  readonly checkIntervalMs: number
  /** In which who was refused may read why; then the connection goes, whatever its other end does. */
  readonly lingerMs: number
  /** That a stop waits for requests under way. */
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
 * @param appFor makes the service for the port that was taken, before the first request is read
 * @param https whether answers tell browsers to come by https only
 * @param bounds of connections
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
    // Node answers a request without Host by itself, and without our headers.
    requireHostHeader: false,
  })
  const sockets = new BareSockets(timeouts.lingerMs)
  sockets.track(server)
  const refused = boundConnections(server, bounds)
  server.on('clientError', (error, socket) => refuseUnreadable(sockets, error, socket, https))
  server.on('connect', (_request, socket) => sockets.respondAndClose(socket, rawErrorResponse(400, https)))
  // An expectation that nobody knows may be ignored (RFC 9110, 10.1.1); Node would answer 417 by itself.
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
    refusedConnectionCount: refused,
    stop: () => drain(server, timeouts.drainMs),
  }
}

/** What the parser refuses gets an answer like every other: with version, request id and an error body. */
function refuseUnreadable(
  sockets: BareSockets,
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
  400: 'The request is not readable as HTTP/1.1',
  408: 'The request took too long to arrive',
  431: `The request line and headers may have at most ${HEADER_LIMIT} bytes`,
} as const

/** A client that keeps its connection is told with its next answer that this is the last one. */
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

/** Milliseconds between two looks for connections whose last request has been answered. */
const IDLE_SWEEP_INTERVAL_MS = 50

/**
 * Sockets that Node hands over bare. After `connect`, `upgrade` or `clientError` it has taken its own listeners off, and
 * an error that nobody listens for ends the process: one `CONNECT` and a reset connection would be enough.
 */
class BareSockets {
  readonly #answering = new WeakMap<Duplex, ServerResponse>()

  /** @param linger milliseconds, as in `Patience` */
  constructor(private readonly lingerMs: number) {}

  /** Listens to every connection for good, whatever becomes of it: a client that hangs up is nobody's fault. */
  track(server: Server): void {
    server.on('connection', (socket) => socket.on('error', () => socket.destroy()))
    server.prependListener('request', (req, res) => void this.#answering.set(req.socket, res))
  }

  /**
   * Sends a last answer and closes the connection. In the middle of another answer nothing more can be said: the
   * client would take it for a part of that.
   */
  respondAndClose(socket: Duplex, answer: string): void {
    // More bytes behind what was refused: the answer is on its way.
    if (socket.writableEnded) return
    if (!socket.writable || this.#isWithinAnswer(socket)) return void socket.destroy()
    const cut = setTimeout(() => socket.destroy(), this.lingerMs).unref()
    socket.once('close', () => clearTimeout(cut))
    socket.end(answer)
    // A connection with unread bytes is reset when it is closed, and the answer is lost with it.
    socket.resume()
  }

  #isWithinAnswer(socket: Duplex): boolean {
    const answer = this.#answering.get(socket)
    return answer !== undefined && answer.headersSent && !answer.writableFinished
  }
}

export type ConnectionBounds = {
  /** Connections at a time. */
  readonly maxConnections: number
  /** Whether an address is somebody; behind proxies all connections come from theirs. */
  readonly isPerAddress: boolean
}

/** Each takes some 15 KB and a descriptor; 60 MB and what systems allow a process without being asked. */
const CONNECTIONS: ConnectionBounds = { maxConnections: 4_096, isPerAddress: true }

/**
 * Keeps room for whoever comes next: an address has at most as many connections as are left for the others. One too
 * many is closed at once.
 * @returns how many were closed so far
 */
function boundConnections(server: Server, { maxConnections, isPerAddress }: ConnectionBounds): () => number {
  const share = new FairShare(maxConnections)
  let refused = 0
  server.on('connection', (socket) => {
    const taken = share.openAllocation(isPerAddress ? [networkOf(socket.remoteAddress ?? '')] : [])
    if (taken.tryTake(1)) {
      socket.once('close', () => taken.release())
      return
    }
    refused++
    socket.destroy()
  })
  return () => refused
}
