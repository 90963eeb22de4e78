import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable, pipeline } from 'node:stream'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Answer, Headers } from './answer.ts'
import type { Arrival } from './arrival.ts'

const JSON_TYPE = 'application/json; charset=utf-8'

/**
 * The one way out: head in one piece, packed where the client asked for it, no body for HEAD.
 * @param usual headers of all answers of its endpoint, which the answer's own replace
 * @param failed is told of a stream that broke; its client sees the end of the connection
 * @param sent is told of the body's bytes, packed as they go out, when the last of them was handed over
 */
export function send(
  req: IncomingMessage,
  res: ServerResponse,
  { status, headers, body }: Answer,
  arrival: Pick<Arrival, 'requestId' | 'headers'>,
  usual: Headers,
  failed: (error: unknown) => void,
  sent: (bytes: number) => void,
): void {
  const lines = headLines(headers, arrival, usual)
  const isHead = req.method === 'HEAD'
  if (body === undefined) {
    res.writeHead(status, lines).end()
    return sent(0)
  }
  if (body instanceof Readable) return sendStream(res, status, lines, body, isHead, failed, sent)
  const type = headers['Content-Type']
  if (type === undefined) lines.push('Content-Type', JSON_TYPE)
  const size = typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength
  const caching = headers['Cache-Control'] ?? usual['Cache-Control']
  const packable = mayBePacked(size, caching, type ?? JSON_TYPE)
  if (packable) lines.push('Vary', 'Accept-Encoding')
  const encoding = packable ? encodingFor(req.headers['accept-encoding']) : undefined
  if (encoding === undefined) return sendWhole(res, status, lines, body, size, isHead, sent)
  pack(encoding, body).then(
    (packed) => sendWhole(res, status, [...lines, 'Content-Encoding', encoding], packed, packed.length, isHead, sent),
    // Without memory for packing there may be some for what is there already.
    () => sendWhole(res, status, lines, body, size, isHead, sent),
  )
}

function headLines(
  own: Headers,
  { requestId, headers: every }: Pick<Arrival, 'requestId' | 'headers'>,
  usual: Headers,
) {
  const lines = ['X-Request-Id', requestId, ...every]
  for (const name in usual) if (!(name in own)) lines.push(name, usual[name] ?? '')
  for (const name in own) lines.push(name, own[name] ?? '')
  return lines
}

function sendWhole(
  res: ServerResponse,
  status: number,
  lines: string[],
  body: string | Uint8Array,
  size: number,
  isHead: boolean,
  sent: (bytes: number) => void,
): void {
  lines.push('Content-Length', String(size))
  res.writeHead(status, lines)
  if (isHead) res.end()
  // Where it has a byte a character it goes out as it is, for less than looking at each of them again.
  else if (typeof body === 'string' && body.length === size) res.end(body, 'latin1')
  else res.end(body)
  sent(isHead ? 0 : size)
}

function sendStream(
  res: ServerResponse,
  status: number,
  lines: string[],
  stream: Readable,
  isHead: boolean,
  failed: (error: unknown) => void,
  sent: (bytes: number) => void,
): void {
  res.writeHead(status, lines)
  if (isHead) {
    stream.destroy()
    res.end()
    return sent(0)
  }
  let bytes = 0
  stream.on('data', (chunk: Buffer | string) => (bytes += Buffer.byteLength(chunk)))
  pipeline(stream, res, (error) => {
    sent(bytes)
    if (error && !isHangUp(error)) failed(error)
  })
}

/** Clients that hang up are no fault of ours. */
const isHangUp = (error: NodeJS.ErrnoException): boolean => HANG_UPS.has(error.code)

const HANG_UPS: ReadonlySet<string | undefined> = new Set(['EPIPE', 'ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE'])

type Encoding = 'br' | 'gzip'

/** Bytes up to which a body is sent as it is, asked or not: a packet holds it. */
const SMALL = 1024

/** Brotli's highest levels take a second for what this one does in milliseconds, for a few percent. */
const BROTLI_LEVEL = 4
const GZIP_LEVEL = 6

const TEXT = /^(?:text\/|application\/(?:[\w.-]+\+)?json\b|image\/svg)/

/** True for a text that is packed for who asks; where somebody is let in by it, its length must tell nothing of it. */
const mayBePacked = (bytes: number, cacheControl: string | undefined, type: string): boolean =>
  bytes > SMALL && cacheControl !== 'no-store' && TEXT.test(type)

/**
 * The encoding that a client likes best, br before gzip among equals (RFC 9110, 12.5.3); undefined where it takes neither.
 * @param accepts its Accept-Encoding
 */
export function encodingFor(accepts: string | undefined): Encoding | undefined {
  if (accepts === undefined || accepts === '') return undefined
  const weights = new Map<string, number>()
  for (const item of accepts.toLowerCase().split(',', ENCODINGS_READ)) {
    const [name = '', ...parameters] = item.split(';').map((part) => part.trim())
    const weight = parameters.find((parameter) => parameter.startsWith('q='))
    weights.set(name, weight === undefined ? 1 : Number(weight.slice(2)) || 0)
  }
  const weightOf = (name: Encoding) => weights.get(name) ?? weights.get('*') ?? 0
  const [br, gz] = [weightOf('br'), weightOf('gzip')]
  if (br <= 0 && gz <= 0) return undefined
  return br >= gz ? 'br' : 'gzip'
}

/** There are a handful of encodings; a header of thousands is read no further. */
const ENCODINGS_READ = 20

const inBrotli = promisify(brotliCompress)
const inGzip = promisify(gzip)

/** Packs a body on a thread of libuv's, so that nobody waits for it but who asked. */
function pack(encoding: Encoding, body: string | Uint8Array): Promise<Buffer> {
  if (encoding === 'gzip') return inGzip(body, { level: GZIP_LEVEL })
  const size = Buffer.byteLength(body)
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: BROTLI_LEVEL,
    // Without it the window, and the memory for it, is that of a body of 4 MiB.
    [constants.BROTLI_PARAM_SIZE_HINT]: size,
    [constants.BROTLI_PARAM_LGWIN]: Math.min(
      20,
      Math.max(constants.BROTLI_MIN_WINDOW_BITS, Math.ceil(Math.log2(size))),
    ),
  }
  return inBrotli(body, { params })
}
