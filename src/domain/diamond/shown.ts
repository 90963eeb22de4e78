/** Characters of a value that a message repeats. */
const SHOWN = 60

/** The start of a JSON value, for a message: what is behind it takes no time, however long it is. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, SHOWN)).slice(0, SHOWN)
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object' && value !== null) return 'an object'
  // JSON has no word for it, and would call it null.
  if (value === Infinity || value === -Infinity) return 'a number beyond 1.8e308'
  return value === undefined ? 'nothing' : JSON.stringify(value).slice(0, SHOWN)
}
