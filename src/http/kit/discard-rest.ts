import type { IncomingMessage } from 'node:http'

/** What a client is still listened to after its request was refused: it reads the answer once it has sent its body. */
const BYTES = 64 * 1024 * 1024
const MILLISECONDS = 10_000

/** Reads the rest of a request's body and forgets it, within bounds; past them the connection is cut. */
export function discardRest(req: IncomingMessage): void {
  let left = BYTES
  const cut = setTimeout(() => req.destroy(), MILLISECONDS).unref()
  req.on('close', () => clearTimeout(cut))
  req.on('data', (chunk: Buffer) => {
    left -= chunk.length
    if (left < 0) req.destroy()
  })
  // Whoever hangs up before its end has its refusal already, or wants none.
  req.on('error', () => undefined)
  req.resume()
}
