import { connect, type Socket } from 'node:net'

/** An answer as received: the status, and the whole of head and body as latin1 text. */
export type Answer = { readonly status: number; readonly text: string }

/** What is wrong with an answer that is not a 2xx; undefined for one that is. */
export function refusalOf({ status, text }: Answer): Error | undefined {
  if (status >= 200 && status <= 299) return undefined
  return new Error(`an answer that is not a success:\n${text.slice(0, 2000)}`)
}

const HEAD_END = '\r\n\r\n'

/**
 * One keep-alive HTTP/1.1 connection with one request under way at a time. It understands answers with a
 * Content-Length or without a body, which is all that both services send; anything else is an error.
 */
export class Connection {
  readonly #socket: Socket
  readonly #onAnswer: (answer: Answer) => void
  #received = ''

  constructor(socket: Socket, onAnswer: (answer: Answer) => void, onError: (error: Error) => void) {
    this.#socket = socket
    this.#onAnswer = onAnswer
    socket.setNoDelay(true)
    socket.setEncoding('latin1')
    socket.on('data', (text: string) => this.#take(text))
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

  #take(text: string): void {
    this.#received = this.#received === '' ? text : this.#received + text
    const head = this.#received.indexOf(HEAD_END)
    if (head === -1) return
    const status = Number(this.#received.slice(9, 12))
    const length = head + HEAD_END.length + bodyLength(status, this.#received, head)
    if (this.#received.length < length) return
    const answer = { status, text: this.#received }
    this.#received = ''
    this.#onAnswer(answer)
  }
}

function bodyLength(status: number, text: string, head: number): number {
  if (status === 204 || status === 304) return 0
  const found = /\r\ncontent-length: *(\d+)/i.exec(text.slice(0, head))
  if (!found) throw new Error(`an answer without Content-Length:\n${text.slice(0, head)}`)
  return Number(found[1])
}

/** Opens a connection to a service on this machine. */
export function open(port: number): Promise<Socket> {
  return new Promise((done, fail) => {
    const socket = connect(port, '127.0.0.1', () => done(socket))
    socket.once('error', fail)
  })
}
