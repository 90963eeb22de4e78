import { connect, type Socket } from 'node:net'
import { pace } from '../../pace.ts'

/** How a client ends its connection. */
export const ENDINGS = ['reset', 'end', 'vanish', 'listen'] as const
export type Ending = (typeof ENDINGS)[number]

/** A request in pieces, and how its connection ends. */
export type PiecewiseRequest = { readonly pieces: readonly string[]; readonly ending: Ending }

/** Milliseconds between pieces. */
const PIECE_INTERVAL_MS = 1
/** Milliseconds that a client waits for the response. */
const LISTEN_MS = 40

/** Sends a request on a new connection. Resolves when the connection is closed by either side. */
export async function sendPiecewise(port: number, { pieces, ending }: PiecewiseRequest): Promise<void> {
  const socket = connect(port, '127.0.0.1')
  const closed = new Promise<void>((done) => socket.once('close', () => done()))
  // The service may reset the connection of a request that it rejects.
  socket.on('error', () => undefined)
  await new Promise<void>((done) => socket.once('connect', done).once('close', () => done()))
  for (const piece of pieces) {
    socket.write(piece, 'latin1')
    await pace(PIECE_INTERVAL_MS)
  }
  await END_CONNECTION[ending](socket)
  await closed
}

const END_CONNECTION: Readonly<Record<Ending, (socket: Socket) => unknown>> = {
  reset: (socket) => socket.resetAndDestroy(),
  async end(socket) {
    socket.resume().end()
    await pace(LISTEN_MS)
    socket.destroy()
  },
  vanish: (socket) => socket.destroy(),
  async listen(socket) {
    socket.resume()
    await pace(LISTEN_MS)
    socket.resetAndDestroy()
  },
}
