import type { IParseOptions } from 'qs'
import { Refusal } from '../../../domain/refusal.ts'

/** Parameters of a query, a form or a JSON object: no request of the token server or the secrets API has ten. */
export const PARAMETERS_MAX = 100

/**
 * How queries and forms are parsed, by qs; their text has one character a byte (latin1).
 * @param duplicates of a name that stands twice the last counts, or both become an array
 */
export const formOptions = (duplicates: 'last' | 'combine'): IParseOptions => ({
  duplicates,
  depth: 1,
  allowDots: false,
  parameterLimit: PARAMETERS_MAX,
  arrayLimit: PARAMETERS_MAX,
  throwOnLimitExceeded: true,
  decoder: decoded,
})

/** A space as `+` or as `%20`, a stray `%` as itself. @throws Refusal malformed */
function decoded(text: string): string {
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
    throw new Refusal('malformed', 'The parameters must be text in UTF-8')
  }
}
