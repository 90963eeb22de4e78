import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

export type Encoding = 'br' | 'gzip'

/** Bytes up to which a body is sent as it is, asked or not: a packet holds it. */
const SMALL = 1024

/** Brotli's highest levels take a second for what this one does in milliseconds, for a few percent. */
const BROTLI_LEVEL = 4
const GZIP_LEVEL = 6

const TEXT = /^(?:text\/|application\/(?:[\w.-]+\+)?json\b|image\/svg)/

/** True for a text that is packed for who asks; where somebody is let in by it, its length must tell nothing of it. */
export const mayBePacked = (bytes: number, cacheControl: string | undefined, type: string): boolean =>
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
export function pack(encoding: Encoding, body: string | Uint8Array): Promise<Buffer> {
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
