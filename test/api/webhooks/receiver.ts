import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A message as a receiver got it. */
export type Received = {
  readonly id: string
  readonly timestamp: string
  readonly signatures: readonly string[]
  /** '' where there was none. */
  readonly trace: string
  readonly text: string
  readonly body: { readonly type: string; readonly timestamp: string; readonly data: unknown }
}

export type Receiver = {
  readonly url: string
  /** All that was received, in its order. */
  readonly messages: readonly Received[]
  stop(): Promise<void>
}

/** A server that takes webhooks, on loopback. @param answer 204 unless it is told otherwise */
export async function startReceiver(
  answer: (message: Received, response: ServerResponse) => void = (_message, response) =>
    void response.writeHead(204).end(),
  port = 0,
): Promise<Receiver> {
  const messages: Received[] = []
  const server = createServer((request, response) => {
    void take(request, response)
  })
  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const message = await read(request)
    messages.push(message)
    answer(message, response)
  }
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const { port: taken } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${taken}/hook`,
    messages,
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

async function read(request: IncomingMessage): Promise<Received> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString()
  const header = (name: string) => String(request.headers[name] ?? '')
  return {
    id: header('webhook-id'),
    timestamp: header('webhook-timestamp'),
    signatures: header('webhook-signature').split(' '),
    trace: header('traceparent'),
    text,
    body: JSON.parse(text),
  }
}

/** The signature that a secret makes, by the words of Standard Webhooks and by nothing of the service. */
export function signatureBy(
  secret: string,
  { id, timestamp, text }: Pick<Received, 'id' | 'timestamp' | 'text'>,
): string {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  return `v1,${createHmac('sha256', key)
    .update(Buffer.from(`${id}.${timestamp}.${text}`, 'utf8'))
    .digest('base64')}`
}
