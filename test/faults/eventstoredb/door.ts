import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** A way to MongoDB on which what a client sends can be looked at. */
export type Door = {
  /** As the server's address was given, with this door's host and port. */
  readonly address: string
  close(): Promise<void>
}

/**
 * Passes on what clients and a server tell each other.
 * @param address of one host
 * @param passes is shown what a client sends, piece by piece; what it returns false for does not reach the server, nor
 *   does anything that comes later on that connection
 */
export async function openDoor(address: string, passes: (piece: Buffer) => boolean): Promise<Door> {
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
    client.on('data', (piece: Buffer) => {
      isOpen &&= passes(piece)
      if (isOpen) server.write(piece)
    })
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const taken = listener.address()
  if (taken === null || typeof taken === 'string') throw new Error('the door is nowhere')
  const own = new URL(address)
  own.host = `127.0.0.1:${taken.port}`
  // A member of a replica set would tell its clients where else to go.
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
