import busboy, { type Busboy } from 'busboy'
import type { Context } from 'koa'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { Refusal } from '../../../domain/refusal.ts'
import { discardRest, readWatched, refuseEncoding } from '../body.ts'
import { PARAMETERS_MAX, tooMany } from './form.ts'

/**
 * Reads a multipart form of texts (RFC 7578); a part sent as a file is text as well.
 * @param limit bytes of the body at most
 * @returns the same form, urlencoded
 * @throws Refusal unsupported, malformed, too-large, too-slow, unavailable
 */
export async function multipartForm(ctx: Context, limit: number): Promise<string> {
  const { req } = ctx
  try {
    refuseEncoding(req)
    const parser = parserOf(req, limit)
    const parse = () => {
      const parts = partsOf(parser)
      req.pipe(parser)
      return parts
    }
    return new URLSearchParams(await readWatched(ctx, limit, parse)).toString()
  } catch (error) {
    discardRest(req)
    throw error instanceof Refusal ? error : unreadableForm(error)
  }
}

function parserOf({ headers }: IncomingMessage, limit: number): Busboy {
  const limits = { parts: PARAMETERS_MAX, fieldSize: limit, fileSize: limit, headerPairs: 50 }
  return busboy({ headers, defParamCharset: 'utf8', limits })
}

async function partsOf(parser: Busboy): Promise<[name: string, value: string][]> {
  const parts: { readonly name: string; readonly encoding: string; value: string }[] = []
  parser.on('field', (name, value, { encoding }) => parts.push({ name, encoding, value }))
  parser.on('file', (name, stream, { encoding }) => {
    const part = { name, encoding, value: '' }
    parts.push(part)
    stream.setEncoding('utf8').on('data', (chunk: string) => (part.value += chunk))
    stream.on('error', (error) => parser.destroy(error))
  })
  // It emits several errors for one fault, and `once` listens to the first alone.
  parser.on('error', () => undefined)
  parser.on('partsLimit', () => parser.destroy(tooMany()))
  await once(parser, 'close')
  return parts.map(({ name, encoding, value }) => [name, readable(value, encoding)])
}

/** @throws Refusal malformed */
function readable(value: string, encoding: string): string {
  if (!/^(?:7bit|8bit|binary)$/i.test(encoding)) {
    throw new Refusal('malformed', 'A multipart part must be sent as it is, without Content-Transfer-Encoding')
  }
  // What a decoder puts in place of bytes that are not UTF-8.
  if (value.includes('\ufffd')) throw new Refusal('malformed', 'A multipart part must be text in UTF-8, without U+FFFD')
  return value
}

/** For what a parser of multipart forms throws. */
export const unreadableForm = (error: unknown) =>
  new Refusal('malformed', `The form can't be read: ${error instanceof Error ? error.message : 'it is malformed'}`)
