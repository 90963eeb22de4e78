import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'

/** A message as a receiver got it. */
export type ReceivedMessage = {
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
  readonly messages: readonly ReceivedMessage[]
  stop(): Promise<void>
}

/** A server that takes webhooks, on loopback. @param answer 204 unless it is told otherwise */
export async function startReceiver(
  answer: (message: ReceivedMessage, response: ServerResponse) => void = (_message, response) =>
    void response.writeHead(204).end(),
  port = 0,
): Promise<Receiver> {
  const messages: ReceivedMessage[] = []
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

async function read(request: IncomingMessage): Promise<ReceivedMessage> {
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

/** The signature that a secret makes, by the library of Standard Webhooks. */
export const signatureBy = (secret: string, { id, timestamp, text }: ReceivedMessage): string =>
  new Webhook(secret).sign(id, new Date(Number(timestamp) * 1000), text)

/** What a message says, as a receiver with the library of Standard Webhooks reads it. @throws Error for a wrong signature */
export const verified = (secret: string, { id, timestamp, signatures, text }: ReceivedMessage): unknown =>
  new Webhook(secret).verify(text, {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  })
