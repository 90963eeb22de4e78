import { fromForm } from '../../../domain/certification/input.ts'
import { Refusal } from '../../../domain/refusal.ts'
import { readBody, refuseEncoding } from '../../kit/body.ts'
import { refuseMany } from '../../kit/parameter-count.ts'
import type { Step } from '../../kit/request.ts'
import { FILE_AS_TEXT, twice } from './form-faults.ts'

/** Bytes of a form without a file. */
const LIMIT = 64 * 1024

export const isUrlencoded = (type: string) => /^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(type)

/** Reads a urlencoded form, which has texts alone, into `ctx.state.upload`. */
export const readTexts: Step = async (ctx, next) => {
  refuseEncoding(ctx)
  const body = (await readBody(ctx.req, LIMIT)).toString('utf8')
  refuseMany(body)
  const texts = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(body)) {
    if (texts.has(name)) throw twice(name.slice(0, 60))
    texts.set(name, value)
  }
  const isFileText = (texts.get('file') ?? '') !== ''
  texts.delete('file')
  const refused = isFileText ? new Refusal('invalid', [FILE_AS_TEXT]) : undefined
  ctx.state.upload = { input: fromForm(texts), file: undefined, refused }
  return next()
}
