import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { waitFor } from '../until.ts'

/** Opens a connection to the service. */
async function openConnection(url: string): Promise<Socket> {
  const { port, hostname } = new URL(url)
  const socket = connect(Number(port), hostname)
  // Errors are noticed as the end of the connection.
  socket.on('error', () => undefined)
  await waitFor('a connection', once(socket, 'connect'))
  return socket
}

/** @returns the beginning of the response, or an empty string if the connection ends without one */
async function responseOn(socket: Socket): Promise<string> {
  const ended = once(socket, 'close').then(() => [''])
  const [bytes] = (await waitFor('a response', Promise.race([once(socket, 'data'), ended]))) as [Buffer | string]
  return bytes.toString()
}

/** A connection that its client keeps open after a response. */
export async function openIdleConnection(url: string): Promise<Socket> {
  const socket = await openConnection(url)
  socket.write('GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n')
  await responseOn(socket)
  return socket
}

/** A request whose headers the service has received and whose body is sent by `finish`. */
export type PendingRequest = {
  /** Sends the body. @returns the beginning of the response */
  finish(): Promise<string>
}

export async function beginCreate(url: string, token: string, stone: object): Promise<PendingRequest> {
  const socket = await openConnection(url)
  const body = JSON.stringify(stone)
  const headers = [
    'Host: a',
    `Authorization: Bearer ${token}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Expect: 100-continue',
  ]
  socket.write(['POST /v4/diamond HTTP/1.1', ...headers, '', ''].join('\r\n'))
  // "100 Continue": the service handles the request.
  await responseOn(socket)
  return {
    finish() {
      socket.write(body)
      return responseOn(socket)
    },
  }
}
