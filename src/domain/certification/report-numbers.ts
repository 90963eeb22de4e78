/** Something that a text says: where its label begins, and where the value does. */
export type Found<Value> = { readonly value: Value; readonly label: number; readonly at: number }

/** A percentage behind its label: no angle, no length in mm. */
export const PERCENT = String.raw`\s?(?:\(%\)|%)?\s?[:=]?\s{0,3}(\d{2}(?:\.\d{1,2})?)(?!\d|\s?(?:°|mm|x))`

/** Where a pattern finds something, and where its first group begins. */
export function matchesOf(
  text: string,
  pattern: RegExp,
): readonly (Found<string> & { readonly all: string; readonly groups: readonly string[] })[] {
  return [...text.matchAll(new RegExp(pattern, 'dgi'))].flatMap((match) => {
    const [all, ...groups] = match
    const first = groups.findIndex((group) => group !== undefined)
    const at = match.indices?.[first + 1]?.[0]
    const value = groups[first]
    return value === undefined || at === undefined ? [] : [{ value, label: match.index, at, all, groups }]
  })
}

/** The matches whose number is more than `min` and at most `max`. */
export const within = (text: string, pattern: RegExp, min: number, max: number): readonly Found<number>[] =>
  matchesOf(text, pattern).flatMap(({ value: digits, label, at }) => {
    const value = Number(digits)
    return value > min && value <= max ? [{ value, label, at }] : []
  })
