import { parse } from 'range-parser'

/** Bytes of a file, both included. */
export type Range = { readonly start: number; readonly end: number }

/**
 * The one range that a Range header asks for (RFC 9110, section 14.1.2).
 * @returns undefined where the whole file is the answer: without the header, for another unit, for several ranges and
 *   for what is no range; 'unsatisfiable' where it lies behind the end
 */
export function parseRange(header: string | undefined, bytes: number): Range | undefined | 'unsatisfiable' {
  const { type, code, ranges } = parse(bytes, header ?? '')
  if (type !== 'bytes' || code === MALFORMED || ranges.length > 1) return undefined
  return ranges[0] ?? 'unsatisfiable'
}

/** range-parser's code for what is no range. */
const MALFORMED = 1

/**
 * `inline` with a file name, which every browser reads as it should (RFC 6266): a plain one in ASCII, and beside it the
 * full one where it has other characters.
 * @param name without controls, quotes or slashes, as safeFileName leaves it
 */
export function inlineDisposition(name: string): string {
  const plain = name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^\x20-\x7e]|["\\%;]/g, '_')
  if (plain === name) return `inline; filename="${name}"`
  return `inline; filename="${plain}"; filename*=UTF-8''${encoded(name)}`
}

/** RFC 8187: what encodeURIComponent leaves and the header may not have is encoded as well. */
const encoded = (name: string) =>
  encodeURIComponent(name).replaceAll(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
