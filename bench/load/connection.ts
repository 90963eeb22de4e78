import { connect, type Socket } from 'node:net'

/** A received response; `text` is the head and the body as latin1. */
export type RawResponse = { readonly status: number; readonly text: string }

/** Returns an error unless the status is 2xx. */
export function errorIfUnsuccessful({ status, text }: RawResponse): Error | undefined {
  if (status >= 200 && status <= 299) return undefined
  return new Error(`unsuccessful response:\n${text.slice(0, 2000)}`)
}

const HEAD_END = '\r\n\r\n'

/**
 * A keep-alive HTTP/1.1 connection with one request at a time. It only supports responses with Content-Length or
 * without a body, which is all that the measured services send.
 */
export class Connection {
  readonly #socket: Socket
  readonly #onResponse: (response: RawResponse) => void
  #received = ''

  constructor(socket: Socket, onResponse: (response: RawResponse) => void, onError: (error: Error) => void) {
    this.#socket = socket
    this.#onResponse = onResponse
    socket.setNoDelay(true)
    socket.setEncoding('latin1')
    socket.on('data', (text: string) => this.#receive(text))
    socket.on('error', onError)
    socket.on('close', () => onError(new Error('the server closed a connection')))
  }

  send(request: string): void {
    this.#socket.write(request, 'latin1')
  }

  close(): void {
    this.#socket.removeAllListeners('close')
    this.#socket.destroy()
  }

  #receive(text: string): void {
    this.#received = this.#received === '' ? text : this.#received + text
    const head = this.#received.indexOf(HEAD_END)
    if (head === -1) return
    const status = Number(this.#received.slice(9, 12))
    const length = head + HEAD_END.length + bodyLength(status, this.#received, head)
    if (this.#received.length < length) return
    const response = { status, text: this.#received }
    this.#received = ''
    this.#onResponse(response)
  }
}

function bodyLength(status: number, text: string, head: number): number {
  if (status === 204 || status === 304) return 0
  const found = /\r\ncontent-length: *(\d+)/i.exec(text.slice(0, head))
  if (!found) throw new Error(`response without Content-Length:\n${text.slice(0, head)}`)
  return Number(found[1])
}

export function openSocket(port: number): Promise<Socket> {
  return new Promise((done, fail) => {
    const socket = connect(port, '127.0.0.1', () => done(socket))
    socket.once('error', fail)
  })
}
