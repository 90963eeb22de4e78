import type { Context } from 'koa'
import { Refusal } from '../../domain/refusal.ts'
import { fromForm, NEW_CERTIFICATION, readCertification } from '../../representations/certification.ts'
import type { Caller } from '../kit/authenticate.ts'
import type { Body } from '../kit/endpoint.ts'
import { JSON_TYPES, jsonReader } from '../kit/json-body.ts'
import type { FileRule } from '../files/file-check.ts'
import { AROUND, FormRefused, isMultipart, type FormUploads, type Uploader } from '../files/form-uploads.ts'
import { readTexts, type Form } from '../files/form.ts'
import { FILE_LIMIT, PdfCheck, tooLarge } from './pdf-check.ts'

/** What a form's texts or a JSON body say, and the report's file where there was one, or what is wrong with it. */
export type Upload = Omit<Form, 'texts'> & { readonly input: unknown }

const PDF: FileRule = { limit: FILE_LIMIT, check: () => new PdfCheck(), tooLarge }

/**
 * Reads a form as a stream, its file straight into the files' temporary place, or a body that has texts alone. Whoever
 * gets a file discards it, unless it was kept.
 * @throws Refusal unsupported, malformed, too-large, too-slow; StoreUnavailable
 */
async function readUpload(forms: FormUploads, ctx: Context, uploader: Uploader): Promise<Upload> {
  const type = ctx.get('Content-Type')
  if (type === '' || ctx.is(JSON_TYPES)) return { input: await readJson(ctx), file: undefined, refused: undefined }
  const { texts, ...rest } = await formOf(forms, type, ctx, uploader)
  return { input: fromForm(texts), ...rest }
}

const readJson = jsonReader()

async function formOf(forms: FormUploads, type: string, ctx: Context, uploader: Uploader): Promise<Form> {
  if (ctx.is('urlencoded')) return readTexts(ctx)
  if (!isMultipart(type)) throw new Refusal('unsupported', `Content-Type must be ${MEDIA}, got ${type.slice(0, 100)}`)
  try {
    return await forms.read(ctx, uploader, PDF)
  } catch (error) {
    throw error instanceof FormRefused ? withTextFaults(error) : error
  }
}

const MEDIA = 'multipart/form-data, application/json or application/x-www-form-urlencoded'

/** A form that is not read to its end: of its texts those are judged that have come. */
function withTextFaults({ refusal: { kind, faults }, texts }: FormRefused): Refusal {
  const wrong = readCertification(fromForm(texts)).faults ?? []
  return new Refusal(kind, [...faults, ...wrong.filter(({ pointer }) => texts.has(pointer?.slice(1) ?? ''))])
}

/** What the endpoint that takes uploads says of its body. */
export const upload: Body<Upload, { readonly certifications: { readonly uploads: FormUploads } }, Caller> = {
  media: ['multipart/form-data', 'application/json', 'application/x-www-form-urlencoded', ''],
  upTo: FILE_LIMIT + AROUND,
  schema: NEW_CERTIFICATION,
  read: (ctx, { asker: { account }, address }, { certifications: { uploads } }) =>
    readUpload(uploads, ctx, { account, address }),
  release: ({ file }) => file?.incoming.discard(),
}
