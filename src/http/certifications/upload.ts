import type { Context } from 'koa'
import { RequestError } from '../../domain/decider.ts'
import { certificationFromForm, NEW_CERTIFICATION, parseCertification } from '../../representations/certification.ts'
import {
  FORM_OVERHEAD_BYTES,
  FormUploadError,
  isMultipart,
  readUrlencodedForm,
  type FileUploadRule,
  type UploadForm,
  type FormUploads,
  type Uploader,
} from '../files/form-uploads.ts'
import type { BearerPrincipal } from '../kit/authenticate.ts'
import type { RequestBody } from '../kit/endpoint.ts'
import { JSON_TYPES, jsonReader } from '../kit/json-body.ts'

/** Maximum bytes of a report's file. */
export const FILE_LIMIT = 10_485_760

const HEADER = Buffer.from('%PDF-')
const END = Buffer.from('%%EOF')

/** PDF readers search for the header in the first 1,024 bytes (ISO 32000-1, annex H, implementation note 13). */
const HEADER_SEARCH_BYTES = 1_024

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
    if (this.#hasHeader) this.#lookForEnd(chunk)
    else this.#lookForHeader(chunk)
    if (this.#bytes > FILE_LIMIT) throw tooLarge()
  }

  /** @throws RequestError unsupported */
  finish(): void {
    if (!this.#hasHeader) throw withoutHeader()
    if (!this.#hasEnd) throw noPdf('the end-of-file mark %%EOF is missing; the file may be truncated')
  }

  #lookForHeader(chunk: Buffer): void {
    const seen = Buffer.concat([this.#head, chunk])
    const at = seen.subarray(0, HEADER_SEARCH_BYTES).indexOf(HEADER)
    this.#hasHeader = at >= 0
    if (this.#hasHeader) this.#lookForEnd(seen.subarray(at))
    else if (seen.length >= HEADER_SEARCH_BYTES) throw withoutHeader()
    this.#head = this.#hasHeader ? Buffer.alloc(0) : seen
  }

  #lookForEnd(chunk: Buffer): void {
    if (this.#hasEnd) return
    const seen = Buffer.concat([this.#tail, chunk])
    this.#hasEnd = seen.includes(END)
    // A copy: a view would keep the whole chunk in memory.
    this.#tail = Buffer.from(seen.subarray(1 - END.length))
  }
}

const withoutHeader = () => noPdf(`%PDF- is missing in the first ${HEADER_SEARCH_BYTES} bytes`)

const noPdf = (why: string) =>
  new RequestError('unsupported', [{ pointer: '/file', message: `file must be a PDF: ${why}` }])

const tooLarge = () =>
  new RequestError('too-large', [{ pointer: '/file', message: `file must be at most ${FILE_LIMIT} bytes` }])

export type CertificationUpload = Omit<UploadForm, 'texts'> & { readonly input: unknown }

const PDF: FileUploadRule = { maxBytes: FILE_LIMIT, createValidator: () => new PdfValidator(), tooLarge }

/**
 * Reads a form or a JSON body. Streams the file of a form into temporary storage; the caller discards it unless it was
 * stored.
 * @throws RequestError unsupported, malformed, too-large, too-slow; StoreUnavailable
 */
async function readUpload(forms: FormUploads, ctx: Context, uploader: Uploader): Promise<CertificationUpload> {
  const type = ctx.get('Content-Type')
  if (type === '' || ctx.is(JSON_TYPES)) return { input: await readJson(ctx), file: undefined, fileRefusal: undefined }
  const { texts, ...rest } = await formOf(forms, type, ctx, uploader)
  return { input: certificationFromForm(texts), ...rest }
}

const readJson = jsonReader()

async function formOf(forms: FormUploads, type: string, ctx: Context, uploader: Uploader): Promise<UploadForm> {
  if (ctx.is('urlencoded')) return readUrlencodedForm(ctx)
  if (!isMultipart(type))
    throw new RequestError('unsupported', `Content-Type must be ${MEDIA}, got ${type.slice(0, 100)}`)
  try {
    return await forms.read(ctx, uploader, PDF)
  } catch (error) {
    throw error instanceof FormUploadError ? withTextFaults(error) : error
  }
}

const MEDIA = 'multipart/form-data, application/json or application/x-www-form-urlencoded'

/** Adds the validation errors of the texts that arrived before the form was rejected. */
function withTextFaults({ refusal: { kind, details }, texts }: FormUploadError): RequestError {
  const wrong = parseCertification(certificationFromForm(texts)).errors ?? []
  return new RequestError(kind, [...details, ...wrong.filter(({ pointer }) => texts.has(pointer?.slice(1) ?? ''))])
}

export const certificationUpload: RequestBody<
  CertificationUpload,
  { readonly certifications: { readonly uploads: FormUploads } },
  BearerPrincipal
> = {
  mediaTypes: ['multipart/form-data', 'application/json', 'application/x-www-form-urlencoded', ''],
  maxBytes: FILE_LIMIT + FORM_OVERHEAD_BYTES,
  schema: NEW_CERTIFICATION,
  read: (ctx, { principal: { account }, clientAddress }, { certifications: { uploads } }) =>
    readUpload(uploads, ctx, { account, address: clientAddress }),
  release: ({ file }) => file?.incoming.discard(),
}
