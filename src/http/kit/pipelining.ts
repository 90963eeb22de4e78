import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FairAllocation } from '../../runtime/fairness/fair-share.ts'

/** Bytes of a chunked body that are parsed at a time, since further requests may follow its end: at most 56 short ones. */
const CHUNKED_SLICE_BYTES = 1024

const END_OF_HEADERS = Buffer.from('\r\n\r\n')

export type Exchange = { readonly req: IncomingMessage; readonly res: ServerResponse }

type StartExchange = (exchange: Exchange) => void

type PipeliningOptions = {
  /** The network of the client's address. */
  readonly network: string
  /** Limits the number of connections with requests that wait. */
  readonly pipeliningPlace: FairAllocation
  /** Called if there is no place; closes the connection. */
  readonly onRefused: () => void
}

/**
 * Serves the pipelined requests of a connection (RFC 9112, section 9.3.2) one at a time: the next one is parsed once the
 * response to the one before was handed to the operating system. Node parses and dispatches all that have arrived, a
 * thousand in 64 KiB, and holds all their responses in memory until the client reads them.
 */
export class PipelinedConnection {
  #parse: (bytes: Buffer) => void
  readonly #endInput: () => void
  /** Whether the next requests are in the socket's buffer. */
  #isHolding = false
  #hasPipelined = false
  #hasEnded = false
  #inWork: ServerResponse | undefined
  /** Parsed with the end of the request in work. */
  readonly #parsed: (() => void)[] = []
  #latest: IncomingMessage | undefined
  /** Bytes of the body of `#latest` that have not been parsed; NaN if its length is not known. */
  #bodyBytes = 0

  /** @param socket of a connection that an HTTP server has accepted */
  constructor(
    private readonly socket: Socket,
    private readonly options: PipeliningOptions,
  ) {
    // The server's own listeners. Once the socket has another listener for data, the parser no longer reads from it directly.
    const parse = socket.listeners('data').at(-1) as (bytes: Buffer) => void
    const endInput = socket.listeners('end').at(-1) as () => void
    this.#parse = parse
    this.#endInput = endInput
    socket.on('data', this.#receive).off('data', parse)
    socket.on('end', this.#end).off('end', endInput)
    socket.once('close', () => options.pipeliningPlace.release())
  }

  get network(): string {
    return this.options.network
  }

  get isResponding(): boolean {
    const res = this.#inWork
    return res !== undefined && res.headersSent && !res.writableFinished
  }

  /** Starts a request that the server has parsed, or queues it behind the one in work. */
  add(exchange: Exchange, start: StartExchange): void {
    const { req, res } = exchange
    this.#latest = req
    this.#bodyBytes = Number(req.headers['content-length'])
    res.once('close', () => this.#startNext())
    const startThis = () => {
      this.#inWork = res
      start(exchange)
    }
    if (this.#inWork === undefined) startThis()
    else this.#parsed.push(startThis)
  }

  /** Ignores all that was not parsed yet. */
  detach(): void {
    this.#parse = () => {}
    this.socket.off('data', this.#receive).off('end', this.#end)
  }

  #startNext(): void {
    this.#inWork = undefined
    if (this.socket.destroyed) return
    const startNext = this.#parsed.shift()
    if (startNext !== undefined) startNext()
    else if (this.#isHolding) this.#resume()
    else if (this.#hasEnded) this.#endInput()
  }

  readonly #receive = (bytes: Buffer): void => {
    let rest = bytes
    while (rest.length > 0 && !this.socket.destroyed) {
      if (this.#isRequestInWork()) return this.#hold(rest)
      const length = this.#nextLength(rest)
      const next = rest.subarray(0, length)
      rest = rest.subarray(length)
      this.#bodyBytes -= next.length
      this.#parse(next)
    }
  }

  /** Node closes the connection at the end of its input; a client that has pipelined may still read the last response. */
  readonly #end = (): void => {
    this.#hasEnded = true
    if (this.#inWork === undefined || !this.#hasPipelined) this.#endInput()
  }

  /** Whether a request is in work and has been received completely. */
  #isRequestInWork(): boolean {
    return this.#inWork !== undefined && this.#latest?.complete === true
  }

  /** The number of bytes up to the end of the current body, or else of the next headers. */
  #nextLength(bytes: Buffer): number {
    if (this.#latest?.complete === false) return this.#bodyBytes > 0 ? this.#bodyBytes : CHUNKED_SLICE_BYTES
    const end = bytes.indexOf(END_OF_HEADERS)
    return end < 0 ? bytes.length : end + END_OF_HEADERS.length
  }

  /** Keeps bytes in the socket's buffer, and reads no further. The end of the connection is reported after them. */
  #hold(bytes: Buffer): void {
    if (!this.#isHolding && !this.options.pipeliningPlace.tryTake(1)) return this.options.onRefused()
    this.#isHolding = true
    this.#hasPipelined = true
    this.socket.pause()
    this.socket.unshift(bytes)
  }

  #resume(): void {
    this.#isHolding = false
    this.options.pipeliningPlace.release()
    this.socket.resume()
  }
}
