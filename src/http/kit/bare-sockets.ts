import type { Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/** Milliseconds in which who was refused may read why; then the connection goes, whatever its other end does. */
const LINGER = 2_000

/**
 * Sockets that Node hands over bare. After `connect`, `upgrade` or `clientError` it has taken its own listeners off, and
 * an error that nobody listens for ends the process: one `CONNECT` and a reset connection would be enough.
 */
export class BareSockets {
  readonly #answering = new WeakMap<Duplex, ServerResponse>()

  /** Listens to every connection for good, whatever becomes of it: a client that hangs up is nobody's fault. */
  own(server: Server): void {
    server.on('connection', (socket) => socket.on('error', () => socket.destroy()))
    server.prependListener('request', (req, res) => void this.#answering.set(req.socket, res))
  }

  /**
   * Sends a last answer and closes the connection. In the middle of another answer nothing more can be said: the
   * client would take it for a part of that.
   */
  end(socket: Duplex, answer: string): void {
    // More bytes behind what was refused: the answer is on its way.
    if (socket.writableEnded) return
    if (!socket.writable || this.#isWithinAnswer(socket)) return void socket.destroy()
    const cut = setTimeout(() => socket.destroy(), LINGER).unref()
    socket.once('close', () => clearTimeout(cut))
    socket.end(answer)
    // A connection with unread bytes is reset when it is closed, and the answer is lost with it.
    socket.resume()
  }

  #isWithinAnswer(socket: Duplex): boolean {
    const answer = this.#answering.get(socket)
    return answer !== undefined && answer.headersSent && !answer.writableFinished
  }
}
