/**
 * RFC 8785: members in the order of their names' UTF-16 units, numbers and strings as ECMAScript writes them, no blanks. A
 * half of a surrogate pair is no text to the RFC; here it is written as its escape, so that every stored event has a leaf.
 * @throws TypeError for what is no JSON
 */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return JSON.stringify(value)
  if (typeof value === 'number' && Number.isFinite(value)) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value !== 'object') throw new TypeError(`${String(value)} is no JSON`)
  const members = Object.entries(value).sort(byName)
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`).join(',')}}`
}

const byName = ([one]: [string, unknown], [other]: [string, unknown]) => (one < other ? -1 : 1)
