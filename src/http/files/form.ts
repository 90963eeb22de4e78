import type { Context } from 'koa'
import type { ReceivedFile } from '../../commands/certifications/certifications.ts'
import { Refusal, type Fault } from '../../domain/refusal.ts'
import { formOptions } from '../kit/parameters/form.ts'
import { bodyReader, SMALL_BODY } from '../kit/read-body.ts'

export type Form = {
  readonly texts: ReadonlyMap<string, string>
  readonly file: ReceivedFile | undefined
  /** What is wrong with the file; what the texts say is read all the same. */
  readonly refused: Refusal | undefined
}

/** What a file's part is where it has no file name. */
export const FILE_AS_TEXT: Fault = {
  pointer: '/file',
  message: 'file must be sent as a file: with a filename in its Content-Disposition',
}

/** @param name as it is told to the caller */
export const twice = (name: string) =>
  new Refusal('malformed', [{ pointer: `/${name}`, message: `${name} may stand once in the form` }])

const read = bodyReader({
  urlencoded: true,
  queryString: formOptions('once'),
  encoding: 'latin1',
  limit: SMALL_BODY,
  unless: 'application/x-www-form-urlencoded',
})

/** Reads a urlencoded form, which has texts alone. @throws Refusal malformed, too-large, too-slow, unsupported */
export async function readTexts(ctx: Context): Promise<Form> {
  const texts = new Map<string, string>()
  for (const [name, value] of Object.entries((await read(ctx)) ?? {})) {
    if (typeof value !== 'string') throw twice(name.slice(0, 60))
    texts.set(name, value)
  }
  const isFileText = (texts.get('file') ?? '') !== ''
  texts.delete('file')
  return { texts, file: undefined, refused: isFileText ? new Refusal('invalid', [FILE_AS_TEXT]) : undefined }
}
