/** Bytes of a file, both included. */
export type Range = { readonly start: number; readonly end: number }

/**
 * The one range that a Range header asks for (RFC 9110, section 14.1.2).
 * @returns undefined where the whole file is the answer: without the header, for another unit, for several ranges and
 *   for what is no range; 'unsatisfiable' where it lies behind the end
 */
export function parseRange(header: string | undefined, bytes: number): Range | undefined | 'unsatisfiable' {
  const [, from = '', to = ''] = /^bytes=\s*(\d{0,15})-(\d{0,15})\s*$/i.exec(header ?? '') ?? []
  if (from === '') return to === '' ? undefined : lastBytes(Number(to), bytes)
  const start = Number(from)
  const end = to === '' ? bytes - 1 : Math.min(Number(to), bytes - 1)
  if (to !== '' && Number(to) < start) return undefined
  return start >= bytes ? 'unsatisfiable' : { start, end }
}

function lastBytes(count: number, bytes: number): Range | 'unsatisfiable' {
  return count === 0 ? 'unsatisfiable' : { start: Math.max(0, bytes - count), end: bytes - 1 }
}

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
