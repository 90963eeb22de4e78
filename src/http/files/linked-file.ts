import type { Readable } from 'node:stream'
import { parse } from 'range-parser'
import { z } from 'zod'
import { Refusal } from '../../domain/decider.ts'
import { BytesMissing, type Files } from '../../stores/ports/files.ts'
import { bytes, type Answer } from '../kit/answer.ts'
import type { Asked, Who } from '../kit/endpoint.ts'
import { RefusedWith } from '../kit/errors.ts'
import { signatureOf, type Links } from '../kit/links.ts'

/** Bytes of a file, both included. */
export type Range = { readonly start: number; readonly end: number }

/**
 * The one range that a Range header asks for (RFC 9110, section 14.1.2).
 * @returns undefined where the whole file is the answer: without the header, for another unit, for several ranges and
 *   for what is no range; 'unsatisfiable' where it lies behind the end
 */
export function parseRange(header: string | undefined, bytes: number): Range | undefined | 'unsatisfiable' {
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
  return `inline; filename="${plain}"; filename*=UTF-8''${encoded(name)}`
}

/** RFC 8187: what encodeURIComponent leaves and the header may not have is encoded as well. */
const encoded = (name: string) =>
  encodeURIComponent(name).replaceAll(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)

/** A file under its digest, as it is sent. */
export type LinkedFile = {
  readonly digest: string
  readonly bytes: number
  readonly media: string
  /** What a browser saves it as. */
  readonly name: string
}

/**
 * Whoever has a link that was signed for a file: it says which access of its stone it is for.
 * @param links among the services of its subject
 * @param again what to read for a link that is not expired
 */
export const linkHolder = <Service>(
  links: (service: Service) => Links,
  again: string,
): Who<{ readonly revision: number }, Service> => ({
  scheme: 'signed-link',
  refuses: [400, 404, 410],
  admit({ path, search }, service) {
    const opened = links(service).opened(path, signatureOf(search))
    if (opened === undefined) throw unknownFile()
    if (opened.expired)
      throw new Refusal('gone', `This link has expired: read ${again} again for one that opens its file`)
    return opened
  },
})

export const unknownFile = () => new Refusal('missing', 'There is no such file')

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
export const fileAnswers = (media: string | readonly string[]) => ({
  200: { about: 'The file', media, headers: { ETag: 'Of its bytes' } },
  206: { about: 'The range of it', media, headers: { 'Content-Range': 'Which bytes of how many' } },
  304: 'The copy is the file that there is',
  416: 'The range lies behind its end: Content-Range says how many bytes it has',
})

/** @throws RefusedWith unsatisfiable; BytesMissing, StoreUnavailable when its body is made */
export function answerFile(asked: Asked<unknown, unknown, unknown>, files: Files, file: LinkedFile): Answer {
  const { digest, bytes: size, media } = file
  const headers = headersOf(file)
  const range = wantedRange(asked, file, headers.ETag)
  const stream = () => openedFile(files, digest, range)
  if (range === undefined) return bytes(200, media, stream, { ...headers, 'Content-Length': String(size) })
  const length = String(range.end - range.start + 1)
  const which = `bytes ${range.start}-${range.end}/${size}`
  return bytes(206, media, stream, { ...headers, 'Content-Length': length, 'Content-Range': which })
}

/** A file is looked at and nothing else: no script, no form, no other resource, no page's frame that is not meant to. */
const headersOf = ({ digest, name }: LinkedFile) => ({
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
  { method, headers }: Asked<unknown, unknown, unknown>,
  { bytes: size }: LinkedFile,
  etag: string,
): Range | undefined {
  // What the client has a copy of is asked first (RFC 9110, 13.2.2); then it gets the whole file.
  if (method !== 'GET' || headers['if-none-match'] !== undefined) return undefined
  if (!rangeIsWanted(String(headers['if-range'] ?? ''), etag)) return undefined
  const range = parseRange(headers.range, size)
  if (range !== 'unsatisfiable') return range
  const refusal = new Refusal('unsatisfiable', `The file has ${size} bytes; the range lies behind them`)
  throw new RefusedWith({ 'Content-Range': `bytes */${size}` }, refusal)
}

/** RFC 9110, section 13.1.5: with If-Range a range is wanted only of the very file that the client has a part of. */
const rangeIsWanted = (condition: string, etag: string) => condition === '' || condition === etag

/** Tries to open a file that is just being put back by a collector, and milliseconds between them. */
const TRIES = 5
const PAUSE = 20

/** @throws BytesMissing, StoreUnavailable */
async function openedFile(files: Files, digest: string, range: Range | undefined): Promise<Readable> {
  for (let attempt = 1; ; attempt++) {
    const stream = await files.read(digest, range)
    if (stream !== undefined) return stream
    if (attempt === TRIES) throw new BytesMissing(`The file ${digest} is missing, though the log refers to it`)
    await new Promise<void>((done) => setTimeout(done, PAUSE))
  }
}
