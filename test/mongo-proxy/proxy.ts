import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import type { Document } from 'mongodb'
import { answerTo, messagesIn, type Message } from './messages.ts'

/** What becomes of a command. */
export type Fate =
  /** The connection ends before the server has it. */
  | { readonly cut: 'before' }
  /** The server does it; the connection ends before its answer is there. */
  | { readonly cut: 'after' }
  /** The server has it, and answers when this resolves. */
  | { readonly until: Promise<unknown> }
  /** The server has it not, and this is the answer. */
  | { readonly answer: Document | Promise<Document> }
  /** The server does it, and what it answers is changed. */
  | { readonly change: (answer: Document) => Document | Promise<Document> }

/** @param name of the command, such as `insert`; what it is done on stands in the body under that name */
export type Rule = (name: string, body: Document) => Fate | undefined

/** A server's stand-in on the way to it: what commands meet between here and there. */
export type MongoProxy = {
  /** mongodb://127.0.0.1:PORT/DATABASE */
  readonly address: string
  /** From now on, in place of the rule before; without one everything passes. */
  rule(rule?: Rule): void
  stop(): Promise<void>
}

/** How drivers ask whether a server is there and what it is; rules don't touch it. */
const GREETINGS: ReadonlySet<string> = new Set(['hello', 'isMaster', 'ismaster', 'ping', 'endSessions'])

/** @param address of the server, with the database that the proxy's has too */
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
    pass(client, upstream, (name, body) => (GREETINGS.has(name) ? undefined : current(name, body)))
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

/** Commands one way, each by its fate, and answers the other. */
function pass(client: Socket, upstream: Socket, rule: Rule): void {
  const answers = new Map<number, (answer: Message) => Promise<void>>()
  onMessages(client, (command) => {
    const [name = ''] = Object.keys(command.body ?? {})
    const fate = command.body === undefined ? undefined : rule(name, command.body)
    if (fate === undefined) return void upstream.write(command.bytes)
    if ('answer' in fate) return void refuse(client, command.id, fate.answer)
    if ('cut' in fate && fate.cut === 'before') return void client.destroy()
    answers.set(command.id, (answer) => meet(client, fate, answer))
    upstream.write(command.bytes)
  })
  onMessages(upstream, (answer) => {
    const meeting = answers.get(answer.answers)
    answers.delete(answer.answers)
    if (meeting === undefined) client.write(answer.bytes)
    else void meeting(answer)
  })
}

async function refuse(client: Socket, id: number, answer: Document | Promise<Document>): Promise<void> {
  client.write(answerTo(id, await answer))
}

async function meet(client: Socket, fate: Exclude<Fate, { answer: unknown }>, answer: Message): Promise<void> {
  if ('cut' in fate) return void client.destroy()
  if ('change' in fate) {
    const changed = await fate.change(answer.body ?? {})
    return void client.write(answerTo(answer.answers, changed))
  }
  await fate.until
  client.write(answer.bytes)
}

function onMessages(socket: Socket, act: (message: Message) => void): void {
  let rest: Buffer = Buffer.alloc(0)
  socket.on('data', (bytes) => {
    const read = messagesIn(Buffer.concat([rest, bytes]))
    rest = read.rest
    for (const message of read.messages) act(message)
  })
}
