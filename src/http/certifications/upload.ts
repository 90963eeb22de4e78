import { pdfFileName } from '../../domain/certification/certification.ts'
import { RequestError } from '../../domain/request-error.ts'
import { HttpError } from '../kit/http-error.ts'
import { certificationFromForm, NEW_CERTIFICATION, parseCertification } from '../../representations/certification.ts'
import {
  FORM_OVERHEAD_BYTES,
  FormUploadError,
  readUrlencodedForm,
  type FileUploadRule,
  type UploadForm,
  type FormUploads,
  type Uploader,
} from '../files/form-uploads.ts'
import type { BearerPrincipal } from '../kit/authenticate.ts'
import type { EndpointContext, RequestBody } from '../kit/endpoint.ts'
import { JSON_TYPES, jsonReader } from '../kit/json-body.ts'

export type CertificationUpload = Omit<UploadForm, 'texts'> & { readonly input: unknown }

/** Maximum bytes of a report's file. */
export const FILE_LIMIT = 10_485_760

export const certificationUpload: RequestBody<
  CertificationUpload,
  { readonly certifications: { readonly uploads: FormUploads } },
  BearerPrincipal
> = {
  mediaTypes: ['multipart/form-data', 'application/json', 'application/x-www-form-urlencoded', ''],
  maxBytes: FILE_LIMIT + FORM_OVERHEAD_BYTES,
  schema: NEW_CERTIFICATION,
  read: (ctx, { certifications: { uploads } }) =>
    readUpload(uploads, ctx, { account: ctx.state.principal.account, address: ctx.ip }),
  release: ({ file }) => file?.incoming.discard(),
}

/**
 * Reads a form or a JSON body. Streams the file of a form into temporary storage; the caller discards it unless it was
 * stored.
 * @throws RequestError malformed, too-large; HttpError 408, 415; StoreUnavailable
 */
async function readUpload(
  uploads: FormUploads,
  ctx: EndpointContext,
  uploader: Uploader,
): Promise<CertificationUpload> {
  const type = ctx.get('Content-Type')
  if (type === '' || ctx.is(JSON_TYPES)) return { input: await readJson(ctx), file: undefined, fileError: undefined }
  const { texts, file, fileError } = await readForm(uploads, ctx, uploader)
  const pdf = file && { ...file, name: pdfFileName(file.name ?? '') }
  return { input: certificationFromForm(texts), file: pdf, fileError }
}

const readJson = jsonReader()

async function readForm(uploads: FormUploads, ctx: EndpointContext, uploader: Uploader): Promise<UploadForm> {
  if (ctx.is('urlencoded')) return readUrlencodedForm(ctx)
  try {
    return await uploads.read(ctx, uploader, PDF)
  } catch (error) {
    throw error instanceof FormUploadError ? withTextFaults(error) : error
  }
}

const tooLarge = () =>
  new RequestError('too-large', [
    { pointer: '/file', message: `file must be at most ${FILE_LIMIT} bytes`, code: 'range' },
  ])

const PDF: FileUploadRule = { maxBytes: FILE_LIMIT, createValidator: () => new PdfValidator(), tooLarge }

/** Adds the validation errors of the texts that arrived before the form was rejected. */
function withTextFaults({ refusal, texts }: FormUploadError): RequestError {
  const textFaults = parseCertification(certificationFromForm(texts)).errors ?? []
  const ofArrived = textFaults.filter(({ pointer }) => texts.has(pointer?.slice(1) ?? ''))
  return refusal.withDetails([...refusal.details, ...ofArrived])
}

/**
 * Validates a PDF by its content while it is streamed: `%PDF-` within the first 1,024 bytes and an end-of-file mark anywhere
 * after it. Ignores its name and declared type, and bytes before and after those marks, as PDF readers do.
 */
export class PdfValidator {
  #bytes = 0
  /** The bytes received so far, until the header is found. */
  #head = Buffer.alloc(0)
  #hasHeader = false
  /** The last bytes received, which may be the start of the end-of-file mark. */
  #tail = Buffer.alloc(0)
  #hasEnd = false

  get bytes(): number {
    return this.#bytes
  }

  /** @throws RequestError unsupported as soon as it cannot be a PDF, too-large as soon as it exceeds the limit */
  update(chunk: Buffer): void {
    this.#bytes += chunk.length
    if (this.#hasHeader) this.#findEnd(chunk)
    else this.#findHeader(chunk)
    if (this.#bytes > FILE_LIMIT) throw tooLarge()
  }

  /** @throws RequestError unsupported */
  finish(): void {
    if (!this.#hasHeader) throw missingHeader()
    if (!this.#hasEnd) throw notPdf('the end-of-file mark %%EOF is missing; the file may be truncated')
  }

  #findHeader(chunk: Buffer): void {
    const bytes = Buffer.concat([this.#head, chunk])
    const headerIndex = bytes.subarray(0, HEADER_SEARCH_BYTES).indexOf(HEADER)
    this.#hasHeader = headerIndex >= 0
    if (this.#hasHeader) this.#findEnd(bytes.subarray(headerIndex))
    else if (bytes.length >= HEADER_SEARCH_BYTES) throw missingHeader()
    this.#head = this.#hasHeader ? Buffer.alloc(0) : bytes
  }

  #findEnd(chunk: Buffer): void {
    if (this.#hasEnd) return
    const bytes = Buffer.concat([this.#tail, chunk])
    this.#hasEnd = bytes.includes(END)
    // A copy: a view would keep the whole chunk in memory.
    this.#tail = Buffer.from(bytes.subarray(1 - END.length))
  }
}

const missingHeader = () => notPdf(`%PDF- is missing in the first ${HEADER_SEARCH_BYTES} bytes`)

const notPdf = (reason: string) =>
  new HttpError(415, [{ pointer: '/file', message: `file must be a PDF: ${reason}`, code: 'format' }])

/** PDF readers search for the header in the first 1,024 bytes (ISO 32000-1, annex H, implementation note 13). */
const HEADER_SEARCH_BYTES = 1_024

const HEADER = Buffer.from('%PDF-')

const END = Buffer.from('%%EOF')
