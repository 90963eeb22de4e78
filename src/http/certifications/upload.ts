import { pdfFileName } from '../../domain/certification/certification.ts'
import { MAX_REPORT_BYTES, NotPdf, PdfCheck } from '../../domain/certification/pdf-check.ts'
import { RequestError } from '../../domain/request-error.ts'
import { HttpError } from '../kit/http-error.ts'
import { certificationFromForm, NEW_CERTIFICATION, parseCertification } from '../../representations/certification.ts'
import {
  FORM_OVERHEAD_BYTES,
  FormUploadError,
  readUrlencodedForm,
  throwRefusal,
  type FileUploadRule,
  type UploadForm,
  type FormUploads,
} from '../files/form-uploads.ts'
import type { BearerPrincipal } from '../kit/authenticate.ts'
import type { EndpointContext, RequestBody } from '../kit/endpoint.ts'
import { JSON_TYPES, jsonReader } from '../kit/json-body.ts'

export type CertificationUpload = Omit<UploadForm, 'texts'> & { readonly input: unknown }

type UploadServices = { readonly certifications: { readonly uploads: FormUploads } }

export const certificationUpload: RequestBody<CertificationUpload, UploadServices, BearerPrincipal> = {
  mediaTypes: ['multipart/form-data', 'application/json', 'application/x-www-form-urlencoded', ''],
  maxBytes: MAX_REPORT_BYTES + FORM_OVERHEAD_BYTES,
  schema: NEW_CERTIFICATION,
  read: (ctx, { certifications: { uploads } }) => readUpload(uploads, ctx),
  release: ({ file }) => file?.incoming.discard(),
}

/** A form of texts, with a PDF if it is multipart. */
export const pdfForm: RequestBody<UploadForm, UploadServices, BearerPrincipal> = {
  mediaTypes: ['multipart/form-data', 'application/x-www-form-urlencoded'],
  maxBytes: MAX_REPORT_BYTES + FORM_OVERHEAD_BYTES,
  read: (ctx, { certifications: { uploads } }) => readForm(uploads, ctx).catch(throwRefusal),
  release: ({ file }) => file?.incoming.discard(),
}

/**
 * Reads a form or a JSON body. Streams the file of a form into temporary storage; the caller discards it unless it was
 * stored.
 * @throws RequestError malformed, too-large; HttpError 408, 415; StoreUnavailable
 */
async function readUpload(uploads: FormUploads, ctx: EndpointContext<BearerPrincipal>): Promise<CertificationUpload> {
  const type = ctx.get('Content-Type')
  if (type === '' || ctx.is(JSON_TYPES)) return { input: await readJson(ctx), file: undefined, fileError: undefined }
  try {
    const { texts, file, fileError } = await readForm(uploads, ctx)
    return { input: certificationFromForm(texts), file, fileError }
  } catch (error) {
    throw error instanceof FormUploadError ? withTextFaults(error) : error
  }
}

const readJson = jsonReader()

/** @throws FormUploadError, RequestError, HttpError, StoreUnavailable */
async function readForm(uploads: FormUploads, ctx: EndpointContext<BearerPrincipal>): Promise<UploadForm> {
  if (ctx.is('urlencoded')) return readUrlencodedForm(ctx)
  const { file, ...form } = await uploads.read(ctx, PDF)
  return { ...form, file: file && { ...file, name: pdfFileName(file.name ?? '') } }
}

const tooLarge = () =>
  new RequestError('too-large', [
    { pointer: '/file', message: `file must be at most ${MAX_REPORT_BYTES} bytes`, code: 'range' },
  ])

const PDF: FileUploadRule = { maxBytes: MAX_REPORT_BYTES, createValidator: () => new PdfValidator(), tooLarge }

/** Adds the validation errors of the texts that arrived before the form was rejected. */
function withTextFaults({ refusal, texts }: FormUploadError): RequestError {
  const textFaults = parseCertification(certificationFromForm(texts)).errors ?? []
  const ofArrived = textFaults.filter(({ pointer }) => texts.has(pointer?.slice(1) ?? ''))
  return refusal.withDetails([...refusal.details, ...ofArrived])
}

/** Validates the content and the size of a PDF while it is streamed. */
export class PdfValidator {
  #bytes = 0
  readonly #check = new PdfCheck()

  get bytes(): number {
    return this.#bytes
  }

  /** @throws RequestError unsupported as soon as it cannot be a PDF, too-large as soon as it exceeds the limit */
  update(chunk: Buffer): void {
    this.#bytes += chunk.length
    refuseNotPdf(() => this.#check.update(chunk))
    if (this.#bytes > MAX_REPORT_BYTES) throw tooLarge()
  }

  /** @throws RequestError unsupported */
  finish(): void {
    refuseNotPdf(() => this.#check.finish())
  }
}

function refuseNotPdf(check: () => void): void {
  try {
    check()
  } catch (error) {
    if (!(error instanceof NotPdf)) throw error
    throw new HttpError(415, [{ pointer: '/file', message: `file must be a PDF: ${error.message}`, code: 'format' }])
  }
}
