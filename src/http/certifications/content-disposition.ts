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
