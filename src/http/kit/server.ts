import { randomUUID } from 'node:crypto'
import { createServer, STATUS_CODES, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { BareSockets } from './bare-sockets.ts'
import { boundConnections, CONNECTIONS, type ConnectionBounds } from './connections.ts'
import { fixedHeaders } from './arrival.ts'

/** Bytes of a request's line and headers: 10,000 characters of a secret fit into a query, percent-encoded. */
const HEADER_LIMIT = 256 * 1024 + 16 * 1024

/** Milliseconds that a stop waits for requests under way. */
const DRAIN = 5_000

export type Listening = {
  readonly host: string
  readonly port: number
  /** Connections that were closed because there were too many, so far. */
  refused(): number
  /** Accepts nothing new, waits for what is under way, at most 5 s, and closes. */
  stop(): Promise<void>
}

/** Milliseconds that a client has for its headers and for its whole request, and between two looks at who is late. */
export type Patience = { readonly headers: number; readonly request: number; readonly look: number }

const PATIENCE: Patience = { headers: 60_000, request: 300_000, look: 10_000 }

/**
 * @param appFor makes the service for the port that was taken, before the first request is read
 * @param https whether answers tell browsers to come by https only
 * @param bounds of connections
 * @throws the system's error, such as EADDRINUSE
 */
export async function listen(
  appFor: (port: number) => RequestListener,
  host: string,
  port: number,
  patience = PATIENCE,
  https = false,
  bounds: ConnectionBounds = CONNECTIONS,
): Promise<Listening> {
  const server = createServer({
    maxHeaderSize: HEADER_LIMIT,
    keepAliveTimeout: 65_000,
    headersTimeout: patience.headers,
    requestTimeout: patience.request,
    connectionsCheckingInterval: patience.look,
    // Node answers a request without Host by itself, and without our headers.
    requireHostHeader: false,
  })
  const sockets = new BareSockets()
  sockets.own(server)
  const refused = boundConnections(server, bounds)
  server.on('clientError', (error, socket) => refuseUnreadable(sockets, error, socket, https))
  server.on('connect', (_request, socket) => sockets.end(socket, refusal(400, https)))
  // An expectation that nobody knows may be ignored (RFC 9110, 10.1.1); Node would answer 417 by itself.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  await new Promise<void>((done, fail) => {
    server.once('error', fail)
    server.listen(port, host, () => {
      server.on('request', appFor((server.address() as AddressInfo).port))
      done()
    })
  })
  return { host, port: (server.address() as AddressInfo).port, refused, stop: () => drain(server) }
}

/** What the parser refuses gets an answer like every other: with version, request id and an error body. */
function refuseUnreadable(
  sockets: BareSockets,
  error: Error & { code?: string },
  socket: Duplex,
  https: boolean,
): void {
  if (error.code === 'ECONNRESET') socket.destroy()
  else if (error.code === 'HPE_HEADER_OVERFLOW') sockets.end(socket, refusal(431, https))
  else sockets.end(socket, refusal(error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400, https))
}

function refusal(status: keyof typeof MESSAGES, https: boolean): string {
  const requestId = randomUUID()
  const body = JSON.stringify({ error: [MESSAGES[status]], requestId })
  const fixed = fixedHeaders(https)
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    ...fixed.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${fixed[at + 1]}`] : [])),
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
async function drain(server: Server): Promise<void> {
  const closed = new Promise<void>((done) => server.close(() => done()))
  server.prependListener('request', (_request, response) => response.setHeader('Connection', 'close'))
  server.closeIdleConnections()
  const sweep = setInterval(() => server.closeIdleConnections(), SWEEP)
  const impatience = setTimeout(() => server.closeAllConnections(), DRAIN)
  await closed
  clearInterval(sweep)
  clearTimeout(impatience)
}

/** Milliseconds between two looks for connections whose last request has been answered. */
const SWEEP = 50
