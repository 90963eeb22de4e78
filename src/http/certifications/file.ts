import type { Certification, ReportFile } from '../../domain/certification/certification.ts'
import { fileRevision } from '../../domain/diamond/access.ts'
import { Refusal } from '../../domain/refusal.ts'
import { BytesMissing, type Files } from '../../stores/ports/files.ts'
import { isNotModified } from '../diamonds/conditions.ts'
import { signatureOf, type Ctx, type Step } from '../kit/request.ts'
import { inlineDisposition, parseRange, type Range } from './file-headers.ts'
import { certificationIdOf } from './remove.ts'
import type { CertificationService } from './routes.ts'

/** A PDF is looked at and nothing else: no script, no form, no other resource, no page's frame that is not meant to. */
const HEADERS = {
  'Content-Security-Policy': "default-src 'none'; sandbox",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'X-Robots-Tag': 'noindex',
  // Asked again each time: a certification that is gone is gone from caches too.
  'Cache-Control': 'private, no-cache',
  'Accept-Ranges': 'bytes',
}

/** Tries to open a file that is just being put back by a collector, and milliseconds between them. */
const TRIES = 5
const PAUSE = 20

/** Sends a report's PDF to whoever holds its link, as long as its certification stands in the log. */
export function sendFile({ certifications, files, links }: CertificationService): Step {
  return async (ctx) => {
    const opened = links.opened(ctx.path, signatureOf(ctx))
    if (opened === undefined) throw unknown()
    if (opened.expired) throw new Refusal('gone', EXPIRED)
    const found = await certifications.one(certificationIdOf(ctx))
    if (found === undefined || fileRevision(found.diamond) !== opened.revision) throw unknown()
    const { certification } = found
    if (!hasFile(certification)) throw unknown()
    const { digest } = certification.file
    const etag = `"${digest}"`
    const name = certification.file.name ?? `${certification.laboratory}-certification-${certification.id}.pdf`
    if (isNotModified(ctx.req.headers['if-none-match'], etag)) ctx.status = 304
    else await sendBytes(ctx, files, certification.file, wantedRange(ctx, certification.file, etag))
    ctx.set({ ...HEADERS, ETag: etag, 'Content-Disposition': inlineDisposition(name) })
  }
}

async function sendBytes(ctx: Ctx, files: Files, { digest, bytes }: ReportFile, range: Range | undefined) {
  const stream = await opened(files, digest, range)
  if (ctx.method === 'HEAD') stream.destroy()
  else ctx.body = stream
  ctx.status = range === undefined ? 200 : 206
  ctx.type = 'application/pdf'
  ctx.length = range === undefined ? bytes : range.end - range.start + 1
  if (range !== undefined) ctx.set('Content-Range', `bytes ${range.start}-${range.end}/${bytes}`)
}

/** @throws Refusal unsatisfiable */
function wantedRange(ctx: Ctx, { bytes }: ReportFile, etag: string): Range | undefined {
  if (ctx.method !== 'GET' || !rangeIsWanted(ctx, etag)) return undefined
  const range = parseRange(ctx.req.headers.range, bytes)
  if (range !== 'unsatisfiable') return range
  ctx.set('Content-Range', `bytes */${bytes}`)
  throw new Refusal('unsatisfiable', `The file has ${bytes} bytes; the range lies behind them`)
}

/** RFC 9110, section 13.1.5: with If-Range a range is wanted only of the very file that the client has a part of. */
function rangeIsWanted(ctx: Ctx, etag: string): boolean {
  const condition = ctx.get('If-Range')
  return condition === '' || condition === etag
}

async function opened(files: Files, digest: string, range: Range | undefined) {
  for (let attempt = 1; ; attempt++) {
    const stream = await files.read(digest, range)
    if (stream !== undefined) return stream
    if (attempt === TRIES) throw new BytesMissing(`The file ${digest} is missing, though a certification refers to it`)
    await new Promise<void>((done) => setTimeout(done, PAUSE))
  }
}

const hasFile = (certification: Certification): certification is Certification & { readonly file: ReportFile } =>
  certification.file !== null

const EXPIRED = 'This link has expired: read the certification again for one that opens its file'

const unknown = () => new Refusal('missing', 'There is no such file')
