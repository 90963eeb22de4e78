import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'

/** A webhook message as received. */
export type ReceivedMessage = {
  readonly id: string
  readonly timestamp: string
  readonly signatures: readonly string[]
  /** The traceparent header; '' if absent. */
  readonly trace: string
  readonly text: string
  readonly body: { readonly type: string; readonly timestamp: string; readonly data: unknown }
}

export type Receiver = {
  readonly url: string
  /** In the order of arrival. */
  readonly messages: readonly ReceivedMessage[]
  stop(): Promise<void>
}

/** Starts a server on the loopback interface that receives webhooks. @param respond responds to a message; 204 by default */
export async function startReceiver(
  respond: (message: ReceivedMessage, response: ServerResponse) => void = (_message, response) =>
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
    respond(message, response)
  }
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const { port: boundPort } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${boundPort}/hook`,
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

/** The signature of a message by the library of Standard Webhooks. */
export const signatureBy = (secret: string, { id, timestamp, text }: ReceivedMessage): string =>
  new Webhook(secret).sign(id, new Date(Number(timestamp) * 1000), text)

/** Verifies a message with the library of Standard Webhooks and returns its body. @throws Error for a wrong signature */
export const verified = (secret: string, { id, timestamp, signatures, text }: ReceivedMessage): unknown =>
  new Webhook(secret).verify(text, {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  })
