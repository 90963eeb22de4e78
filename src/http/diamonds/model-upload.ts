import type { ReceivedFile } from '../../commands/certifications/certifications.ts'
import { Refusal } from '../../domain/refusal.ts'
import { MODEL_LIMIT } from '../../representations/stone-model.ts'
import { z } from 'zod'
import type { Caller } from '../kit/authenticate.ts'
import type { Body } from '../kit/endpoint.ts'
import type { FileCheck, FileRule } from '../files/file-check.ts'
import { AROUND, FormRefused, isMultipart, type FormUploads } from '../files/form-uploads.ts'
import type { Form } from '../files/form.ts'

const ofFile = (message: string) => [{ pointer: '/file', message }]

const tooLarge = () => new Refusal('too-large', ofFile(`file may have at most ${MODEL_LIMIT} bytes`))

/** Counts a 3D file's bytes; what they say is looked at when all of them are there. */
class ModelCheck implements FileCheck {
  bytes = 0

  take(chunk: Buffer): void {
    this.bytes += chunk.length
    if (this.bytes > MODEL_LIMIT) throw tooLarge()
  }

  end(): void {
    if (this.bytes === 0) throw new Refusal('invalid', ofFile('file is empty'))
  }
}

const MODEL: FileRule = { limit: MODEL_LIMIT, check: () => new ModelCheck(), tooLarge }

/** What the endpoint that takes 3D files says of its body: a form with one file, and nothing else. */
export const modelUpload: Body<ReceivedFile, { readonly models: { readonly uploads: FormUploads } }, Caller> = {
  media: ['multipart/form-data'],
  upTo: MODEL_LIMIT + AROUND,
  schema: z.strictObject({
    file: z.unknown().describe('The 3D file: OFF, STL (binary or text) or OBJ, in millimetres, of at most 20 MB.'),
  }),
  async read(ctx, { asker: { account }, address }, { models: { uploads } }) {
    const type = ctx.get('Content-Type')
    if (!isMultipart(type))
      throw new Refusal('unsupported', `Content-Type must be multipart/form-data, got ${type.slice(0, 100) || 'none'}`)
    try {
      return await onlyFile(await uploads.read(ctx, { account, address }, MODEL))
    } catch (error) {
      throw error instanceof FormRefused ? error.refusal : error
    }
  },
  release: ({ incoming }) => incoming.discard(),
}

/** @throws Refusal invalid for a form that has more, or no file */
async function onlyFile({ texts, file, refused }: Form): Promise<ReceivedFile> {
  const unknown = [...texts.keys()].map((name) => ({
    pointer: `/${name.slice(0, 60)}`,
    message: `${name.slice(0, 60)} is no part of a model; it has file`,
  }))
  const missing = file === undefined && refused === undefined ? ofFile('file is required: a 3D file of the stone') : []
  const faults = [...missing, ...(refused?.faults ?? []), ...unknown]
  if (file !== undefined && faults.length === 0) return file
  await file?.incoming.discard()
  throw new Refusal('invalid', faults)
}
