import type { IParseOptions } from 'qs'
import { RequestError } from '../../../domain/decider.ts'

/** Parameters of a query, a form or a JSON object: no request of the token server or the secrets API has ten. */
export const PARAMETERS_MAX = 100

export const tooMany = () => new RequestError('malformed', `A request may have at most ${PARAMETERS_MAX} parameters`)

/**
 * How parameters are read.
 * `rack`: as Rack and PHP do. Of one that stands twice the last counts, and a list is written as `name[]`, `name[0]` or as
 * an array of JSON. `once`: each stands once, as a text, under its name as it is written.
 */
export type ParameterRules = 'rack' | 'once'

/** How queries and forms are parsed, by qs; their text has one character a byte (latin1). Of `once`, twins are an array. */
export const formOptions = (rules: ParameterRules): IParseOptions => ({
  ...(rules === 'rack' ? { duplicates: 'last', depth: 1 } : { duplicates: 'combine', depth: 0 }),
  allowDots: false,
  parameterLimit: PARAMETERS_MAX,
  arrayLimit: PARAMETERS_MAX,
  throwOnLimitExceeded: true,
  decoder: decodeFormText,
})

/** A space as `+` or as `%20`, a stray `%` as itself. @throws Refusal malformed */
function decodeFormText(text: string): string {
  const bytes = text
    .replaceAll('+', ' ')
    .replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return decodeUtf8(Buffer.from(bytes, 'latin1'))
}

/** Keeps a byte order mark: what was shared is read byte for byte. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** @throws Refusal malformed */
export function decodeUtf8(bytes: Buffer): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new RequestError('malformed', 'The parameters must be text in UTF-8')
  }
}
