import { createHash } from 'node:crypto'

/** The stream of one request, by all that makes it this request. */
export const requestStream = (...names: readonly unknown[]): string => `request-${sha256(JSON.stringify(names))}`

/** Of a parsed body: the order of members and white space don't count. */
export const digestOf = (body: unknown): string => sha256(JSON.stringify(sorted(body)))

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, member]) => [name, sorted(member)]),
  )
}
