import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import type { Document } from 'mongodb'
import { responseMessage, messagesIn, type Message } from './messages.ts'

/** What the proxy does with a command. */
export type CommandFault =
  /** Closes the connection before the server receives the command. */
  | { readonly cut: 'before' }
  /** The server executes the command; the connection closes before the response. */
  | { readonly cut: 'after' }
  /** The server executes the command; the response is sent when the promise resolves. */
  | { readonly until: Promise<unknown> }
  /** The server does not receive the command; the proxy responds with this document. */
  | { readonly response: Document | Promise<Document> }
  /** The server executes the command; the proxy changes the response. */
  | { readonly change: (response: Document) => Document | Promise<Document> }

/** @param name the command, such as `insert`; the body has the collection under this name */
export type Rule = (name: string, body: Document) => CommandFault | undefined

/** A proxy to a MongoDB server that injects faults into commands. */
export type MongoProxy = {
  /** mongodb://127.0.0.1:PORT/DATABASE */
  readonly address: string
  /** Replaces the current rule; without an argument, all commands pass. */
  rule(rule?: Rule): void
  stop(): Promise<void>
}

/** Commands with which drivers monitor a server; they always pass. */
const GREETINGS: ReadonlySet<string> = new Set(['hello', 'isMaster', 'ismaster', 'ping', 'endSessions'])

/** @param address of the server, with the database name, which the proxy's address has too */
export async function startMongoProxy(address: string): Promise<MongoProxy> {
  const target = new URL(address)
  const sockets = new Set<Socket>()
  let current: Rule = () => undefined
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        sockets.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    forward(client, upstream, (name, body) => (GREETINGS.has(name) ? undefined : current(name, body)))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    address: `mongodb://127.0.0.1:${port}${target.pathname}`,
    rule: (rule = () => undefined) => void (current = rule),
    async stop() {
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close')
    },
  }
}

/** Passes commands to the server according to the rule, and responses back. */
function forward(client: Socket, upstream: Socket, rule: Rule): void {
  const pending = new Map<number, (response: Message) => Promise<void>>()
  onMessages(client, (command) => {
    const [name = ''] = Object.keys(command.body ?? {})
    const fault = command.body === undefined ? undefined : rule(name, command.body)
    if (fault === undefined) return void upstream.write(command.bytes)
    if ('response' in fault) return void respond(client, command.id, fault.response)
    if ('cut' in fault && fault.cut === 'before') return void client.destroy()
    pending.set(command.id, (response) => passResponse(client, fault, response))
    upstream.write(command.bytes)
  })
  onMessages(upstream, (response) => {
    const forwardResponse = pending.get(response.responseTo)
    pending.delete(response.responseTo)
    if (forwardResponse === undefined) client.write(response.bytes)
    else void forwardResponse(response)
  })
}

async function respond(client: Socket, id: number, response: Document | Promise<Document>): Promise<void> {
  client.write(responseMessage(id, await response))
}

async function passResponse(
  client: Socket,
  fault: Exclude<CommandFault, { response: unknown }>,
  response: Message,
): Promise<void> {
  if ('cut' in fault) return void client.destroy()
  if ('change' in fault) {
    const changed = await fault.change(response.body ?? {})
    return void client.write(responseMessage(response.responseTo, changed))
  }
  await fault.until
  client.write(response.bytes)
}

function onMessages(socket: Socket, action: (message: Message) => void): void {
  let incomplete: Buffer = Buffer.alloc(0)
  socket.on('data', (bytes) => {
    const parsed = messagesIn(Buffer.concat([incomplete, bytes]))
    incomplete = parsed.rest
    for (const message of parsed.messages) action(message)
  })
}
