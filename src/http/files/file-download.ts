import type { Readable } from 'node:stream'
import { parse } from 'range-parser'
import { z } from 'zod'
import { RequestError } from '../../domain/request-error.ts'
import { HttpError } from '../kit/http-error.ts'
import { BytesMissing, type FileReadOptions, type FileStore } from '../../stores/ports/file-store.ts'
import { contentResponse, type HttpResponse } from '../kit/response.ts'
import type { EndpointContext, Authenticator } from '../kit/endpoint.ts'
import { ErrorWithHeaders } from '../kit/errors.ts'
import { parseSignature, type SignedLinks } from '../kit/signed-links.ts'

/** Byte offsets in a file, both inclusive. */
type ByteRange = { readonly start: number; readonly end: number }

/**
 * Parses a Range header (RFC 9110, section 14.1.2).
 * @returns undefined if the whole file must be sent: without the header, or if it has another unit, several ranges or a
 *   syntax error; 'unsatisfiable' if the range starts after the end
 */
export function parseRange(header: string | undefined, bytes: number): ByteRange | undefined | 'unsatisfiable' {
  const { type, code, ranges } = parse(bytes, header ?? '')
  if (type !== 'bytes' || code === MALFORMED || ranges.length > 1) return undefined
  return ranges[0] ?? 'unsatisfiable'
}

/** range-parser's code for a syntax error. */
const MALFORMED = 1

/**
 * An `inline` Content-Disposition (RFC 6266) with an ASCII file name and, if the name has other characters, the full name.
 * @param name without control characters, quotes and slashes, as returned by `safeFileName`
 */
export function inlineDisposition(name: string): string {
  const asciiName = name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^\x20-\x7e]|["\\%;]/g, '_')
  if (asciiName === name) return `inline; filename="${name}"`
  return `inline; filename="${asciiName}"; filename*=UTF-8''${encodeHeaderValue(name)}`
}

/** RFC 8187: also encodes characters that encodeURIComponent keeps but the header does not allow. */
const encodeHeaderValue = (name: string) =>
  encodeURIComponent(name).replaceAll(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)

type FileDownload = {
  readonly digest: string
  readonly bytes: number
  readonly mediaType: string
  /** The file name offered for saving. */
  readonly name: string
}

/**
 * Authenticates by the signature of a link to a file. The result has the access revision that the link was signed for.
 * @param resourceName the resource that contains a new link, for the error message
 */
export const signedLink = <Service>(
  links: (service: Service) => SignedLinks,
  resourceName: string,
): Authenticator<{ readonly revision: number }, Service> => ({
  scheme: 'signed-link',
  errorStatuses: [400, 404, 410],
  authenticate({ path, querystring }, service) {
    const link = links(service).verify(path, parseSignature(querystring))
    if (link === undefined) throw unknownFile()
    if (link.isExpired)
      throw new RequestError('gone', `This link has expired; read ${resourceName} again for a new link`)
    return link
  },
})

export const unknownFile = () => new RequestError('missing', 'No such file, or the signature is invalid')

const TAG = '"5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a27fb57e9"'

export const FILE_REQUEST = {
  query: z.object({ signature: z.string().describe('The signature of the link.') }),
  requestHeaders: {
    'If-None-Match': z
      .string()
      .optional()
      .describe('ETags of cached copies.')
      .meta({ examples: [TAG] }),
    Range: z
      .string()
      .optional()
      .describe('A single byte range. A request with several ranges gets the whole file.')
      .meta({ examples: ['bytes=0-1023'] }),
    'If-Range': z
      .string()
      .optional()
      .describe('The ETag of the file that the client has a part of.')
      .meta({ examples: [TAG] }),
  },
} as const

export const fileResponses = (mediaType: string | readonly string[]) => ({
  200: { description: 'The file', mediaType, headers: { ETag: 'Digest of the content' } },
  206: { description: 'The requested range', mediaType, headers: { 'Content-Range': 'The range and the total size' } },
  304: 'Not modified: the ETag in If-None-Match is current',
  416: 'The range starts after the end of the file; Content-Range has the size',
})

/** @throws ErrorWithHeaders 416; creating the body throws BytesMissing or StoreUnavailable */
export function createFileResponse(ctx: EndpointContext, files: FileStore, file: FileDownload): HttpResponse {
  const { digest, bytes: size, mediaType } = file
  const headers = headersOf(file)
  const range = requestedRange(ctx, file, headers.ETag)
  const stream = () => openFile(files, digest, { range, expectedBytes: size })
  if (range === undefined)
    return contentResponse(200, mediaType, stream, { ...headers, 'Content-Length': String(size) })
  const length = String(range.end - range.start + 1)
  const contentRange = `bytes ${range.start}-${range.end}/${size}`
  return contentResponse(206, mediaType, stream, {
    ...headers,
    'Content-Length': length,
    'Content-Range': contentRange,
  })
}

/** The sandbox prevents an uploaded file from running scripts, submitting forms or loading other resources. */
const headersOf = ({ digest, name }: FileDownload) => ({
  'Content-Security-Policy': "default-src 'none'; sandbox",
  'Referrer-Policy': 'no-referrer',
  'X-Robots-Tag': 'noindex',
  // Caches must revalidate, so that a deleted file is not served from a cache.
  'Cache-Control': 'private, no-cache',
  'Accept-Ranges': 'bytes',
  ETag: `"${digest}"`,
  'Content-Disposition': inlineDisposition(name),
})

/** @throws ErrorWithHeaders 416 */
function requestedRange(
  { method, headers }: EndpointContext,
  { bytes: size }: FileDownload,
  etag: string,
): ByteRange | undefined {
  // If-None-Match is evaluated before Range (RFC 9110, section 13.2.2); a client with a stale copy gets the whole file.
  if (method !== 'GET' || headers['if-none-match'] !== undefined) return undefined
  if (!rangeApplies(String(headers['if-range'] ?? ''), etag)) return undefined
  const range = parseRange(headers.range, size)
  if (range !== 'unsatisfiable') return range
  const refusal = new HttpError(416, `The range must start before the end of the file, which has ${size} bytes`)
  throw new ErrorWithHeaders({ 'Content-Range': `bytes */${size}` }, refusal)
}

/** RFC 9110, section 13.1.5: with If-Range, the range applies only if the ETag is current. */
const rangeApplies = (condition: string, etag: string) => condition === '' || condition === etag

/** Attempts, and milliseconds between them: the garbage collector may be moving the file back at that moment. */
const MAX_ATTEMPTS = 5
const RETRY_DELAY_MS = 20

/** @throws BytesMissing, StoreUnavailable */
async function openFile(files: FileStore, digest: string, options: FileReadOptions): Promise<Readable> {
  for (let attempt = 1; ; attempt++) {
    const stream = await files.readFile(digest, options)
    if (stream !== undefined) return stream
    if (attempt === MAX_ATTEMPTS)
      throw new BytesMissing(`The event log refers to file ${digest}, but the file store does not have it`)
    await new Promise<void>((done) => setTimeout(done, RETRY_DELAY_MS))
  }
}
