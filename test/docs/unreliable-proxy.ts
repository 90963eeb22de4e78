import { once } from 'node:events'
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A proxy that drops the response to the first bulk request of each method and rejects the first list request with 503. */
export class UnreliableProxy {
  /** Set it to answer the next request for changes with 410, as after a restore. */
  simulatesRestore = false
  readonly droppedResponses: string[] = []
  #seen = new Set<string>()
  #server = createServer((asked, answer) => this.#pass(asked, answer))

  constructor(private readonly service: string) {}

  async start(): Promise<string> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Makes the first requests fail again. */
  reset(): void {
    this.#seen.clear()
  }

  async stop(): Promise<void> {
    this.#server.close()
    this.#server.closeAllConnections()
    await once(this.#server, 'close')
  }

  #pass(asked: IncomingMessage, answer: ServerResponse): void {
    const { method = '', url = '' } = asked
    const [path = ''] = url.split('?')
    const what = `${method} ${path}`
    const isFirst = !this.#seen.has(what)
    this.#seen.add(what)
    if (path === '/v4/diamond/changes' && this.simulatesRestore) {
      this.simulatesRestore = false
      return refuse(answer, 410, { error: ['restored'], restart: '1-0' })
    }
    if (isFirst && what === 'GET /v4/diamond') return refuse(answer, 503, { error: ['away'] })
    const passed = request(this.service + url, { method, headers: asked.headers }, (given) => {
      if (!isFirst || path !== '/v4/diamond/bulk')
        return void given.pipe(answer.writeHead(given.statusCode ?? 0, given.headers))
      // The service has processed the request; the client gets no response.
      this.droppedResponses.push(`${what} ${given.statusCode}`)
      given.resume().on('end', () => answer.destroy())
    })
    passed.on('error', () => answer.destroy())
    asked.pipe(passed)
  }
}

function refuse(answer: ServerResponse, status: number, body: object): void {
  answer.writeHead(status, { 'Content-Type': 'application/json', 'Retry-After': '0' }).end(JSON.stringify(body))
}
