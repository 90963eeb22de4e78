import type { ServerResponse } from 'node:http'
import { Readable, pipeline } from 'node:stream'
import type { Answer, Headers } from './answer.ts'
import { encodingFor, mayBePacked, pack } from './packing.ts'

/** What of a request decides on how its answer is sent. */
export type Sending = {
  readonly method: string
  readonly requestId: string
  /** Names and values of the headers that the answer has whatever it is, one after another. */
  readonly every: readonly string[]
  /** Those of its endpoint and family, which the answer's own replace. */
  readonly usual: Headers
  /** The request's Accept-Encoding. */
  readonly accepts: string | undefined
}

const JSON_TYPE = 'application/json; charset=utf-8'

/**
 * The one way out: head in one piece, packed where the client asked for it, no body for HEAD.
 * @param failed is told of a stream that broke; its client sees the end of the connection
 */
export function send(res: ServerResponse, answer: Answer, sending: Sending, failed: (error: unknown) => void): void {
  const { status, headers, body } = answer
  const lines = headLines(headers, sending)
  if (body === undefined) {
    res.writeHead(status, lines).end()
    return
  }
  if (body instanceof Readable) return sendStream(res, status, lines, body, sending, failed)
  const type = headers['Content-Type']
  if (type === undefined) lines.push('Content-Type', JSON_TYPE)
  const size = typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength
  const caching = headers['Cache-Control'] ?? sending.usual['Cache-Control']
  const packable = mayBePacked(size, caching, type ?? JSON_TYPE)
  if (packable) lines.push('Vary', 'Accept-Encoding')
  const encoding = packable ? encodingFor(sending.accepts) : undefined
  if (encoding === undefined) return sendWhole(res, status, lines, body, size, sending)
  pack(encoding, body).then(
    (packed) => sendWhole(res, status, [...lines, 'Content-Encoding', encoding], packed, packed.length, sending),
    // Without memory for packing there may be some for what is there already.
    () => sendWhole(res, status, lines, body, size, sending),
  )
}

function headLines(own: Headers, { requestId, every, usual }: Sending): string[] {
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
  { method }: Sending,
): void {
  lines.push('Content-Length', String(size))
  res.writeHead(status, lines)
  if (method === 'HEAD') res.end()
  else res.end(body)
}

function sendStream(
  res: ServerResponse,
  status: number,
  lines: string[],
  stream: Readable,
  { method }: Sending,
  failed: (error: unknown) => void,
): void {
  res.writeHead(status, lines)
  if (method === 'HEAD') {
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
