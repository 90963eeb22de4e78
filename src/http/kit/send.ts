import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable, pipeline } from 'node:stream'
import type { Answer, Headers } from './answer.ts'
import type { Arrival } from './arrival.ts'
import { encodingFor, mayBePacked, pack } from './packing.ts'

const JSON_TYPE = 'application/json; charset=utf-8'

/**
 * The one way out: head in one piece, packed where the client asked for it, no body for HEAD.
 * @param usual headers of all answers of its endpoint, which the answer's own replace
 * @param failed is told of a stream that broke; its client sees the end of the connection
 */
export function send(
  req: IncomingMessage,
  res: ServerResponse,
  { status, headers, body }: Answer,
  arrival: Pick<Arrival, 'requestId' | 'headers'>,
  usual: Headers,
  failed: (error: unknown) => void,
): void {
  const lines = headLines(headers, arrival, usual)
  const isHead = req.method === 'HEAD'
  if (body === undefined) {
    res.writeHead(status, lines).end()
    return
  }
  if (body instanceof Readable) return sendStream(res, status, lines, body, isHead, failed)
  const type = headers['Content-Type']
  if (type === undefined) lines.push('Content-Type', JSON_TYPE)
  const size = typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength
  const caching = headers['Cache-Control'] ?? usual['Cache-Control']
  const packable = mayBePacked(size, caching, type ?? JSON_TYPE)
  if (packable) lines.push('Vary', 'Accept-Encoding')
  const encoding = packable ? encodingFor(req.headers['accept-encoding']) : undefined
  if (encoding === undefined) return sendWhole(res, status, lines, body, size, isHead)
  pack(encoding, body).then(
    (packed) => sendWhole(res, status, [...lines, 'Content-Encoding', encoding], packed, packed.length, isHead),
    // Without memory for packing there may be some for what is there already.
    () => sendWhole(res, status, lines, body, size, isHead),
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
): void {
  lines.push('Content-Length', String(size))
  res.writeHead(status, lines)
  if (isHead) res.end()
  else res.end(body)
}

function sendStream(
  res: ServerResponse,
  status: number,
  lines: string[],
  stream: Readable,
  isHead: boolean,
  failed: (error: unknown) => void,
): void {
  res.writeHead(status, lines)
  if (isHead) {
    stream.destroy()
    res.end()
    return
  }
  pipeline(stream, res, (error) => {
    if (error && !isHangUp(error)) failed(error)
  })
}

/** Clients that hang up are no fault of ours. */
const isHangUp = (error: NodeJS.ErrnoException): boolean => HANG_UPS.has(error.code)

const HANG_UPS: ReadonlySet<string | undefined> = new Set(['EPIPE', 'ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE'])
