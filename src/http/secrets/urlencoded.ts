import { Refusal } from '../../domain/refusal.ts'

export type Pair = readonly [name: string, value: string]

/** Keeps a byte order mark: what was shared is read byte for byte. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Names and values of a query or of a urlencoded form: a space as `+` or as `%20`, a stray `%` as itself, an empty pair
 * as nothing.
 * @param text one character a byte (latin1), as it came
 * @throws Refusal malformed for what is not UTF-8
 */
export function parseUrlencoded(text: string): Pair[] {
  return text
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const equals = pair.indexOf('=')
      const [name, value] = equals < 0 ? [pair, ''] : [pair.slice(0, equals), pair.slice(equals + 1)]
      return [decodePart(name), decodePart(value)]
    })
}

function decodePart(part: string): string {
  const bytes = part
    .replaceAll('+', ' ')
    .replace(/%([0-9a-f]{2})/gi, (_match, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return decodeUtf8(Buffer.from(bytes, 'latin1'))
}

/** @throws Refusal malformed */
export function decodeUtf8(bytes: Buffer): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new Refusal('malformed', 'The parameters must be text in UTF-8')
  }
}
