/** A line of a dictionary, as the Constants API shows it. Ids never change meaning: events hold them. */
export type Entry = {
  readonly id: number
  readonly title: string
  readonly short: string
  /** Where it stands on its scale: lists are in ascending position. */
  readonly position: number
}

/** A hue with its neighbours on the hue circle, `[]` when it has none; two levels, never more. */
export type Hue = Entry & { readonly children: readonly Entry[] }

/** Further spellings that input may use, by the title they stand for; compared without regard to case. */
export type Aliases = Readonly<Record<string, readonly string[]>>

/** A dictionary's entries, those of a tree each followed by its children. */
export const withChildren = (entries: readonly (Entry | Hue)[]): readonly Entry[] =>
  entries.flatMap((entry) => ('children' in entry ? [entry, ...entry.children] : [entry]))

type Match = (text: string) => number | undefined

/**
 * The id of the entry a text names: exact titles first, then exact short forms, then without regard to case the aliases,
 * titles and short forms. Children take no part in the exact short forms, or Green-Yellow's short form would hide `GY`,
 * the documented alias of Gray. Where two short forms differ only in case, the first entry has what neither is exactly.
 */
export function matcher(entries: readonly (Entry | Hue)[], aliases: Aliases): Match {
  const all = withChildren(entries)
  const titles = all.map((entry): Pair => [entry.title, entry.id])
  const exact = firstOf([...titles, ...entries.map((entry): Pair => [entry.short, entry.id])])
  const spellings = Object.entries(aliases).flatMap(([title, spelt]) =>
    spelt.map((spelling): Pair => [spelling, idOf(exact, title)]),
  )
  const shorts = all.map((entry): Pair => [entry.short, entry.id])
  const folded = firstOf([...spellings, ...titles, ...shorts].map(([text, id]): Pair => [text.toLowerCase(), id]))
  return (text) => exact.get(text) ?? folded.get(text.toLowerCase())
}

type Pair = readonly [text: string, id: number]

/** Unlike `new Map(pairs)`, the first of two equal texts keeps its id. */
function firstOf(pairs: readonly Pair[]): ReadonlyMap<string, number> {
  return new Map([...pairs].reverse())
}

function idOf(titles: ReadonlyMap<string, number>, title: string): number {
  const id = titles.get(title)
  if (id === undefined) throw new Error(`aliases stand under ${title}, which is no title`)
  return id
}
