import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * Below the ephemeral ports of Linux (from 32768), macOS and Windows (from 49152). The system may assign an ephemeral
 * port to an outgoing connection while its server is down, even to a client that tries to reach that server.
 */
const PORTS = { from: 20_000, to: 32_000 } as const

/** The distance between the first ports that two processes try: concurrent processes often have adjacent ids. */
const PORTS_PER_PROCESS = 16

let next = process.pid * PORTS_PER_PROCESS

/** A free port of 127.0.0.1 that stays free for a server that restarts. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = PORTS.from + (next++ % (PORTS.to - PORTS.from))
    if (await isFree(port)) return port
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch {
    // The port is in use.
    return false
  }
  server.close()
  await once(server, 'close')
  return true
}
