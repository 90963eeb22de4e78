/** A percentage behind its label: no angle, no length in mm. */
export const PERCENT = String.raw`\s?(?:\(%\)|%)?\s?[:=]?\s{0,3}(\d{2}(?:\.\d{1,2})?)(?!\d|\s?(?:°|mm|x))`

/** The first match whose number is more than `min` and at most `max`. */
export function within(text: string, pattern: RegExp, min: number, max: number): number | null {
  for (const [, digits] of text.matchAll(new RegExp(pattern, 'gi'))) {
    const value = Number(digits)
    if (value > min && value <= max) return value
  }
  return null
}
