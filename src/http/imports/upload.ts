import { z } from 'zod'
import type { ReceivedFile } from '../../commands/certifications/certifications.ts'
import { RequestError } from '../../domain/request-error.ts'
import {
  FORM_OVERHEAD_BYTES,
  SizeValidator,
  throwRefusal,
  type FileUploadRule,
  type FormUploads,
} from '../files/form-uploads.ts'
import type { BearerPrincipal } from '../kit/authenticate.ts'
import type { RequestBody } from '../kit/endpoint.ts'
import { IMPORT_OPTIONS, optionsFromForm } from './options.ts'

const MAX_FILE_BYTES = 20 * 1024 * 1024

/** A file with a mapping of each of its columns and of some words. */
const MAX_PARTS = 500

const tooLarge = () =>
  new RequestError('too-large', [
    { pointer: '/file', message: `file must be at most ${MAX_FILE_BYTES} bytes; compress or divide it`, code: 'range' },
  ])

const fileRequired = () =>
  new RequestError('invalid', [
    {
      pointer: '/file',
      message: 'file is required: a stock list as CSV, .xlsx or JSON lines, or a ZIP archive with it and PDFs',
      code: 'required',
    },
  ])

const STOCK_LIST: FileUploadRule = {
  maxBytes: MAX_FILE_BYTES,
  createValidator: () => new SizeValidator(MAX_FILE_BYTES, tooLarge, fileRequired),
  tooLarge,
  maxParts: MAX_PARTS,
}

/** An uploaded file, and the options as JSON. */
type StockListUpload = { readonly file: ReceivedFile; readonly options: unknown }

type UploadServices = { readonly imports: { readonly uploads: FormUploads } }

/** A multipart form with the part `file` and options. */
export const stockListUpload: RequestBody<StockListUpload, UploadServices, BearerPrincipal> = {
  mediaTypes: ['multipart/form-data'],
  maxBytes: MAX_FILE_BYTES + FORM_OVERHEAD_BYTES,
  schema: IMPORT_OPTIONS.extend({
    file: z
      .unknown()
      .describe(
        'The stock list: CSV, a workbook (.xlsx) or JSON lines, also gzipped, or a ZIP archive of one of them and PDFs that are named after a sku or a report number. At most 20 MB.',
      ),
  }),
  async read(ctx, { imports: { uploads } }) {
    const { texts, file, fileError } = await uploads.read(ctx, STOCK_LIST).catch(throwRefusal)
    if (file === undefined) throw fileError ?? fileRequired()
    return { file, options: optionsFromForm(texts) }
  },
  release: ({ file }) => file.incoming.discard(),
}
