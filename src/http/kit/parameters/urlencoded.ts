import { Refusal } from '../../../domain/refusal.ts'
import { refuseMany } from './count.ts'

export type Pair = readonly [name: string, value: string]

/** Keeps a byte order mark: what was shared is read byte for byte. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Names and values of a query or of a urlencoded form: a space as `+` or as `%20`, a stray `%` as itself, an empty pair
 * as nothing.
 * @param text one character a byte (latin1), as it came
 * @throws Refusal malformed for what is not UTF-8, and for too many
 */
export function parseUrlencoded(text: string): Pair[] {
  refuseMany(text)
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
  const bytes = Buffer.from(part, 'latin1')
  let to = 0
  for (let from = 0; from < bytes.length; from++) {
    const byte = bytes[from] ?? 0
    const escaped = byte === PERCENT ? hexAt(bytes, from + 1) : undefined
    if (escaped !== undefined) from += 2
    bytes[to++] = escaped ?? (byte === PLUS ? SPACE : byte)
  }
  return decodeUtf8(bytes.subarray(0, to))
}

const PERCENT = 0x25
const PLUS = 0x2b
const SPACE = 0x20

/** What two hexadecimal digits stand for; undefined for others. */
function hexAt(bytes: Buffer, at: number): number | undefined {
  const [high, low] = [digit(bytes[at] ?? 0), digit(bytes[at + 1] ?? 0)]
  return high === undefined || low === undefined ? undefined : high * 16 + low
}

function digit(byte: number): number | undefined {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const small = byte | 0x20
  return small >= 0x61 && small <= 0x66 ? small - 0x57 : undefined
}

/** @throws Refusal malformed */
export function decodeUtf8(bytes: Buffer): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new Refusal('malformed', 'The parameters must be text in UTF-8')
  }
}
