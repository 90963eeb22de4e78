import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { comes } from '../until.ts'

/** A connection to the service that a test has for itself. */
async function connected(url: string): Promise<Socket> {
  const { port, hostname } = new URL(url)
  const socket = connect(Number(port), hostname)
  // What becomes of it is seen by its end.
  socket.on('error', () => undefined)
  await comes('a connection', once(socket, 'connect'))
  return socket
}

/** @returns the beginning of it, or nothing where the connection ends without */
async function answerOf(socket: Socket): Promise<string> {
  const ended = once(socket, 'close').then(() => [''])
  const [bytes] = (await comes('an answer', Promise.race([once(socket, 'data'), ended]))) as [Buffer | string]
  return bytes.toString()
}

/** A connection that its client keeps after an answer. */
export async function keptConnection(url: string): Promise<Socket> {
  const socket = await connected(url)
  socket.write('GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n')
  await answerOf(socket)
  return socket
}

/** A request of which the service has the headers, and gets the body when the test says so. */
export type UnderWay = {
  /** Sends the body. @returns the beginning of the answer */
  finish(): Promise<string>
}

export async function createUnderWay(url: string, token: string, stone: object): Promise<UnderWay> {
  const socket = await connected(url)
  const body = JSON.stringify(stone)
  const headers = [
    'Host: a',
    `Authorization: Bearer ${token}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Expect: 100-continue',
  ]
  socket.write(['POST /v4/diamond HTTP/1.1', ...headers, '', ''].join('\r\n'))
  // "100 Continue": the request is under way.
  await answerOf(socket)
  return {
    finish() {
      socket.write(body)
      return answerOf(socket)
    },
  }
}
