import { once } from 'node:events'
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A proxy that drops the response to the first bulk request of each method and rejects the first list request with 503. */
export class UnreliableProxy {
  /** Set it to answer the next request for changes with 410, as after a restore. */
  simulatesRestore = false
  readonly droppedResponses: string[] = []
  #seenRequests = new Set<string>()
  #server = createServer((incoming, response) => this.#forward(incoming, response))

  constructor(private readonly service: string) {}

  async start(): Promise<string> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Makes the first requests fail again. */
  reset(): void {
    this.#seenRequests.clear()
  }

  async stop(): Promise<void> {
    this.#server.close()
    this.#server.closeAllConnections()
    await once(this.#server, 'close')
  }

  #forward(incoming: IncomingMessage, response: ServerResponse): void {
    const { method = '', url = '' } = incoming
    const [path = ''] = url.split('?')
    const requestLine = `${method} ${path}`
    const isFirst = !this.#seenRequests.has(requestLine)
    this.#seenRequests.add(requestLine)
    if (path === '/v4/diamond/changes' && this.simulatesRestore) {
      this.simulatesRestore = false
      return refuse(response, 410, { error: ['restored'], restart: '1-0' })
    }
    if (isFirst && requestLine === 'GET /v4/diamond') return refuse(response, 503, { error: ['away'] })
    const forwarded = request(this.service + url, { method, headers: incoming.headers }, (upstreamResponse) => {
      if (!isFirst || path !== '/v4/diamond/bulk')
        return void upstreamResponse.pipe(
          response.writeHead(upstreamResponse.statusCode ?? 0, upstreamResponse.headers),
        )
      // The service has processed the request; the client gets no response.
      this.droppedResponses.push(`${requestLine} ${upstreamResponse.statusCode}`)
      upstreamResponse.resume().on('end', () => response.destroy())
    })
    forwarded.on('error', () => response.destroy())
    incoming.pipe(forwarded)
  }
}

function refuse(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'Content-Type': 'application/json', 'Retry-After': '0' }).end(JSON.stringify(body))
}
