import type { IParseOptions } from 'qs'
import { RequestError } from '../../../domain/request-error.ts'

/** Maximum number of parameters in a query, form or JSON object. No request needs as many as ten. */
export const PARAMETERS_MAX = 100

export const tooManyParameters = () =>
  new RequestError('malformed', `A request must have at most ${PARAMETERS_MAX} parameters`)

/**
 * `rack`: the conventions of Rack and PHP. The last of repeated parameters wins; lists are `name[]`, `name[0]` or a JSON
 * array. `once`: each parameter is a single text with a literal name.
 */
export type ParameterRules = 'rack' | 'once'

/** Options of qs for a text decoded as Latin-1, one character per byte. With `once`, repeated parameters become an array. */
export const formOptions = (rules: ParameterRules): IParseOptions => ({
  ...(rules === 'rack' ? { duplicates: 'last', depth: 1 } : { duplicates: 'combine', depth: 0 }),
  allowDots: false,
  parameterLimit: PARAMETERS_MAX,
  arrayLimit: PARAMETERS_MAX,
  throwOnLimitExceeded: true,
  decoder: decodeFormText,
})

/** Decodes `+` and `%20` as a space, and keeps a `%` that is not an escape. @throws RequestError malformed */
function decodeFormText(text: string): string {
  const bytes = text
    .replaceAll('+', ' ')
    .replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return decodeUtf8(Buffer.from(bytes, 'latin1'))
}

/** Keeps a byte order mark, so that a secret is revealed exactly as it was shared. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** @throws RequestError malformed */
export function decodeUtf8(bytes: Buffer): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new RequestError('malformed', 'The parameters must be UTF-8 text')
  }
}
