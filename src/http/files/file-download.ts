import type { Readable } from 'node:stream'
import { parse } from 'range-parser'
import { z } from 'zod'
import { RequestError } from '../../domain/decider.ts'
import { BytesMissing, type FileStore } from '../../stores/ports/file-store.ts'
import { binaryResponse, type HttpResponse } from '../kit/response.ts'
import type { HttpRequest, Authenticator } from '../kit/endpoint.ts'
import { ErrorWithHeaders } from '../kit/errors.ts'
import { parseSignature, type SignedLinks } from '../kit/signed-links.ts'

/** Bytes of a file, both included. */
export type ByteRange = { readonly start: number; readonly end: number }

/**
 * The one range that a Range header asks for (RFC 9110, section 14.1.2).
 * @returns undefined where the whole file is the answer: without the header, for another unit, for several ranges and
 *   for what is no range; 'unsatisfiable' where it lies behind the end
 */
export function parseRange(header: string | undefined, bytes: number): ByteRange | undefined | 'unsatisfiable' {
  const { type, code, ranges } = parse(bytes, header ?? '')
  if (type !== 'bytes' || code === MALFORMED || ranges.length > 1) return undefined
  return ranges[0] ?? 'unsatisfiable'
}

/** range-parser's code for what is no range. */
const MALFORMED = 1

/**
 * `inline` with a file name, which every browser reads as it should (RFC 6266): a plain one in ASCII, and beside it the
 * full one where it has other characters.
 * @param name without controls, quotes or slashes, as safeFileName leaves it
 */
export function inlineDisposition(name: string): string {
  const plain = name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^\x20-\x7e]|["\\%;]/g, '_')
  if (plain === name) return `inline; filename="${name}"`
  return `inline; filename="${plain}"; filename*=UTF-8''${encodeHeaderValue(name)}`
}

/** RFC 8187: what encodeURIComponent leaves and the header may not have is encoded as well. */
const encodeHeaderValue = (name: string) =>
  encodeURIComponent(name).replaceAll(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)

/** A file under its digest, as it is sent. */
export type FileDownload = {
  readonly digest: string
  readonly bytes: number
  readonly mediaType: string
  /** What a browser saves it as. */
  readonly name: string
}

/**
 * Whoever has a link that was signed for a file: it says which access of its stone it is for.
 * @param links among the services of its subject
 * @param again what to read for a link that is not expired
 */
export const signedLink = <Service>(
  links: (service: Service) => SignedLinks,
  resourceName: string,
): Authenticator<{ readonly revision: number }, Service> => ({
  scheme: 'signed-link',
  errorStatuses: [400, 404, 410],
  authenticate({ path, search }, service) {
    const opened = links(service).verify(path, parseSignature(search))
    if (opened === undefined) throw unknownFile()
    if (opened.isExpired)
      throw new RequestError('gone', `This link has expired: read ${resourceName} again for one that opens its file`)
    return opened
  },
})

export const unknownFile = () => new RequestError('missing', 'There is no such file')

/** A file's digest. */
const TAG = '"5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a27fb57e9"'

/** What a request for a file may say. */
export const FILE_REQUEST = {
  query: z.object({ signature: z.string().describe('What the link is signed with.') }),
  requestHeaders: {
    'If-None-Match': z
      .string()
      .optional()
      .describe('Tags of copies that the caller has.')
      .meta({ examples: [TAG] }),
    Range: z
      .string()
      .optional()
      .describe('One range; several are answered with the whole file.')
      .meta({ examples: ['bytes=0-1023'] }),
    'If-Range': z
      .string()
      .optional()
      .describe('The tag of the file that the caller has a part of.')
      .meta({ examples: [TAG] }),
  },
} as const

/** What it may be answered. */
export const fileResponses = (mediaType: string | readonly string[]) => ({
  200: { description: 'The file', mediaType, headers: { ETag: 'Of its bytes' } },
  206: { description: 'The range of it', mediaType, headers: { 'Content-Range': 'Which bytes of how many' } },
  304: 'The copy is the file that there is',
  416: 'The range lies behind its end: Content-Range says how many bytes it has',
})

/** @throws RefusedWith unsatisfiable; BytesMissing, StoreUnavailable when its body is made */
export function createFileResponse(
  request: HttpRequest<unknown, unknown, unknown>,
  files: FileStore,
  file: FileDownload,
): HttpResponse {
  const { digest, bytes: size, mediaType } = file
  const headers = headersOf(file)
  const range = wantedRange(request, file, headers.ETag)
  const stream = () => openFile(files, digest, range)
  if (range === undefined) return binaryResponse(200, mediaType, stream, { ...headers, 'Content-Length': String(size) })
  const length = String(range.end - range.start + 1)
  const which = `bytes ${range.start}-${range.end}/${size}`
  return binaryResponse(206, mediaType, stream, { ...headers, 'Content-Length': length, 'Content-Range': which })
}

/** A file is looked at and nothing else: no script, no form, no other resource, no page's frame that is not meant to. */
const headersOf = ({ digest, name }: FileDownload) => ({
  'Content-Security-Policy': "default-src 'none'; sandbox",
  'Referrer-Policy': 'no-referrer',
  'X-Robots-Tag': 'noindex',
  // Asked again each time: what is gone is gone from caches too.
  'Cache-Control': 'private, no-cache',
  'Accept-Ranges': 'bytes',
  ETag: `"${digest}"`,
  'Content-Disposition': inlineDisposition(name),
})

/** @throws RefusedWith unsatisfiable */
function wantedRange(
  { method, headers }: HttpRequest<unknown, unknown, unknown>,
  { bytes: size }: FileDownload,
  etag: string,
): ByteRange | undefined {
  // What the client has a copy of is asked first (RFC 9110, 13.2.2); then it gets the whole file.
  if (method !== 'GET' || headers['if-none-match'] !== undefined) return undefined
  if (!rangeIsWanted(String(headers['if-range'] ?? ''), etag)) return undefined
  const range = parseRange(headers.range, size)
  if (range !== 'unsatisfiable') return range
  const refusal = new RequestError('unsatisfiable', `The file has ${size} bytes; the range lies behind them`)
  throw new ErrorWithHeaders({ 'Content-Range': `bytes */${size}` }, refusal)
}

/** RFC 9110, section 13.1.5: with If-Range a range is wanted only of the very file that the client has a part of. */
const rangeIsWanted = (condition: string, etag: string) => condition === '' || condition === etag

/** Tries to open a file that is just being put back by a collector, and milliseconds between them. */
const TRIES = 5
const PAUSE = 20

/** @throws BytesMissing, StoreUnavailable */
async function openFile(files: FileStore, digest: string, range: ByteRange | undefined): Promise<Readable> {
  for (let attempt = 1; ; attempt++) {
    const stream = await files.read(digest, range)
    if (stream !== undefined) return stream
    if (attempt === TRIES) throw new BytesMissing(`The file ${digest} is missing, though the log refers to it`)
    await new Promise<void>((done) => setTimeout(done, PAUSE))
  }
}
