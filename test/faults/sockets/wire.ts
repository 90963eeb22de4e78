import { connect, type Socket } from 'node:net'
import { pace } from '../../pace.ts'

/** How a client ends its connection. */
export const ENDINGS = ['reset', 'end', 'vanish', 'listen'] as const
export type Ending = (typeof ENDINGS)[number]

/** Bytes of a request, in pieces, and what comes behind them. */
export type Wire = { readonly pieces: readonly string[]; readonly ending: Ending }

/** Milliseconds between pieces, and those that who listens gives the service for its answer. */
const BETWEEN = 1
const LISTENS = 40

/** Sends it over a connection of its own; resolves when that is gone, whoever ended it. */
export async function sendWire(port: number, { pieces, ending }: Wire): Promise<void> {
  const socket = connect(port, '127.0.0.1')
  const gone = new Promise<void>((done) => socket.once('close', () => done()))
  // The service may reset what it refuses: that is its right.
  socket.on('error', () => undefined)
  await new Promise<void>((done) => socket.once('connect', done).once('close', () => done()))
  for (const piece of pieces) {
    socket.write(piece, 'latin1')
    await pace(BETWEEN)
  }
  await END[ending](socket)
  await gone
}

const END: Readonly<Record<Ending, (socket: Socket) => unknown>> = {
  reset: (socket) => socket.resetAndDestroy(),
  async end(socket) {
    socket.resume().end()
    await pace(LISTENS)
    socket.destroy()
  },
  vanish: (socket) => socket.destroy(),
  async listen(socket) {
    socket.resume()
    await pace(LISTENS)
    socket.resetAndDestroy()
  },
}
