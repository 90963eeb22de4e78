import { z } from 'zod'
import type { Readable } from 'node:stream'
import type { Certification, ReportFile } from '../../domain/certification/certification.ts'
import { fileRevision } from '../../domain/diamond/access.ts'
import { Refusal } from '../../domain/refusal.ts'
import { BytesMissing, type Files } from '../../stores/ports/files.ts'
import { bytes, isNotModified, notModified, type Headers } from '../kit/answer.ts'
import { endpoint, type Asked, type Who } from '../kit/endpoint.ts'
import { owned, RefusedWith } from '../kit/errors.ts'
import { signatureOf } from '../kit/links.ts'
import { inlineDisposition, parseRange, type Range } from './file-headers.ts'
import { CERTIFICATION_ID, certificationIdOf, type CertificationServices } from './resource.ts'

/** Whoever has a link that was signed for this file: it says which access of its stone it is for. */
const linkHolder: Who<{ readonly revision: number }, CertificationServices> = {
  scheme: 'signed-link',
  refuses: [400, 404, 410],
  admit({ path, search }, { certifications: { links } }) {
    const opened = links.opened(path, signatureOf(search))
    if (opened === undefined) throw unknown()
    if (opened.expired) throw new Refusal('gone', EXPIRED)
    return opened
  },
}

/** A file's digest. */
const TAG = '"5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a27fb57e9"'

export const readReportFile = endpoint({
  name: 'readCertificationFile',
  method: 'GET',
  path: '/v4/certification/{id}/file',
  about: "A report's PDF, for whoever holds the link that a certification shows as its `file`, for a day.",
  who: linkHolder,
  parameters: { id: CERTIFICATION_ID },
  query: z.object({ signature: z.string().describe('What the link is signed with.') }),
  requestHeaders: {
    'If-None-Match': z
      .string()
      .describe('Tags of copies that the caller has.')
      .meta({ examples: [TAG] }),
    Range: z
      .string()
      .describe('One range; several are answered with the whole file.')
      .meta({ examples: ['bytes=0-1023'] }),
    'If-Range': z
      .string()
      .describe('The tag of the file that the caller has a part of.')
      .meta({ examples: [TAG] }),
  },
  answers: {
    200: { about: 'The file', media: 'application/pdf', headers: { ETag: 'Of its bytes' } },
    206: {
      about: 'The range of it',
      media: 'application/pdf',
      headers: { 'Content-Range': 'Which bytes of how many' },
    },
    304: 'The copy is the file that there is',
    416: 'The range lies behind its end: Content-Range says how many bytes it has',
  },
  family: owned,
  async run(asked, { certifications: { queries, files } }) {
    const found = await queries.one(certificationIdOf(asked.params.id))
    if (found === undefined || fileRevision(found.diamond) !== asked.asker.revision) throw unknown()
    const { certification } = found
    if (!hasFile(certification)) throw unknown()
    const headers = headersOf(certification)
    if (isNotModified(asked.headers['if-none-match'], headers.ETag)) return notModified(headers)
    return sent(files, certification.file, wantedRange(asked, certification.file, headers.ETag), headers)
  },
})

type WithFile = Certification & { readonly file: ReportFile }

const hasFile = (certification: Certification): certification is WithFile => certification.file !== null

/** A PDF is looked at and nothing else: no script, no form, no other resource, no page's frame that is not meant to. */
const headersOf = ({ id, laboratory, file: { digest, name } }: WithFile) => ({
  'Content-Security-Policy': "default-src 'none'; sandbox",
  'Referrer-Policy': 'no-referrer',
  'X-Robots-Tag': 'noindex',
  // Asked again each time: a certification that is gone is gone from caches too.
  'Cache-Control': 'private, no-cache',
  'Accept-Ranges': 'bytes',
  ETag: `"${digest}"`,
  'Content-Disposition': inlineDisposition(name ?? `${laboratory}-certification-${id}.pdf`),
})

async function sent(files: Files, { digest, bytes: size }: ReportFile, range: Range | undefined, headers: Headers) {
  const stream = await opened(files, digest, range)
  if (range === undefined) return bytes(200, PDF, stream, { ...headers, 'Content-Length': String(size) })
  const length = String(range.end - range.start + 1)
  const which = `bytes ${range.start}-${range.end}/${size}`
  return bytes(206, PDF, stream, { ...headers, 'Content-Length': length, 'Content-Range': which })
}

const PDF = 'application/pdf'

/** @throws RefusedWith unsatisfiable */
function wantedRange(
  { method, headers }: Asked<unknown>,
  { bytes: size }: ReportFile,
  etag: string,
): Range | undefined {
  if (method !== 'GET' || !rangeIsWanted(String(headers['if-range'] ?? ''), etag)) return undefined
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

async function opened(files: Files, digest: string, range: Range | undefined): Promise<Readable> {
  for (let attempt = 1; ; attempt++) {
    const stream = await files.read(digest, range)
    if (stream !== undefined) return stream
    if (attempt === TRIES) throw new BytesMissing(`The file ${digest} is missing, though a certification refers to it`)
    await new Promise<void>((done) => setTimeout(done, PAUSE))
  }
}

const EXPIRED = 'This link has expired: read the certification again for one that opens its file'

const unknown = () => new Refusal('missing', 'There is no such file')
