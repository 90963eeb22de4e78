const CONTROL = /\p{Cc}/u

/**
 * A text as it is kept: without the blanks around it.
 * @param max characters as people count them (code points)
 * @returns undefined for what is no text, is longer, or holds nothing but blanks, a control character, or half a
 *   surrogate pair
 */
export function readText(value: unknown, max: number): string | undefined {
  if (typeof value !== 'string') return undefined
  const text = value.trim()
  if (text.length === 0 || text.length > 2 * max || !text.isWellFormed() || CONTROL.test(text)) return undefined
  return text.length <= max || [...text].length <= max ? text : undefined
}
