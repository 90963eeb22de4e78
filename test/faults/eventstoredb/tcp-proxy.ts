import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** A TCP proxy to a MongoDB server that can inspect and block what clients send. */
export type MongoTcpProxy = {
  /** The server's address with the proxy's host and port. */
  readonly address: string
  close(): Promise<void>
}

/**
 * Starts the proxy.
 * @param address of a server with one host
 * @param passes called with each chunk from a client; if it returns false, this chunk and all later ones of the connection are dropped
 */
export async function startMongoTcpProxy(address: string, passes: (chunk: Buffer) => boolean): Promise<MongoTcpProxy> {
  const { hostname, port } = new URL(address)
  const sockets = new Set<Socket>()
  const listener = createServer((client) => {
    const server = connect(Number(port), hostname)
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(one)
      one.on('error', () => {})
      one.on('close', () => {
        sockets.delete(one)
        other.destroy()
      })
    }
    server.pipe(client)
    let isOpen = true
    client.on('data', (chunk: Buffer) => {
      isOpen &&= passes(chunk)
      if (isOpen) server.write(chunk)
    })
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const bound = listener.address()
  if (bound === null || typeof bound === 'string') throw new Error('the proxy has no TCP address')
  const own = new URL(address)
  own.host = `127.0.0.1:${bound.port}`
  // Otherwise a member of a replica set would redirect clients past the proxy.
  own.searchParams.set('directConnection', 'true')
  return {
    address: own.href,
    async close() {
      listener.close()
      for (const socket of sockets) socket.destroy()
      await once(listener, 'close')
    },
  }
}
