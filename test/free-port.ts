import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * Below what Linux (32768 on), macOS and Windows (49152 on) hand out to connections. A port from there may be lent to
 * somebody's connection while its server is down, even to a client of that server that tries to reach it.
 */
const PORTS = { from: 20_000, to: 32_000 } as const

/** Ports that each process tries first: those that run at the same time have process ids near to each other. */
const OF_PROCESS = 16

let next = process.pid * OF_PROCESS

/** A port of 127.0.0.1 that nobody has, and that is free again for a server that stops and comes back. */
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
    // Somebody has it: another is tried.
    return false
  }
  server.close()
  await once(server, 'close')
  return true
}
