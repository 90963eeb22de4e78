import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'

/** A port of 127.0.0.1 that nobody has right now, for a program that has to be told one. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}
