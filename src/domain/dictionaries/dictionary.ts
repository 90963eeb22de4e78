import { comparisonKey, visibleText } from '../visible-text.ts'

/** The separator of a range: `VG-EX`, `Thin – Thick`, `EX/VG`, `U to V`. */
const RANGE_SEPARATOR = /\s*[-–—/]\s*|\s+(?:to|bis|à)\s+/iu

/** The two ends of a range; undefined unless the text has exactly two parts. */
export function splitRange(text: string): readonly [from: string, to: string] | undefined {
  const [from = '', to = '', ...others] = text.split(RANGE_SEPARATOR)
  return from === '' || to === '' || others.length > 0 ? undefined : [from, to]
}

/** An entry, as in the Constants API. Ids never change their meaning, since events contain them. */
export type DictionaryEntry = {
  readonly id: number
  readonly title: string
  readonly short: string
  /** Entries are listed in ascending position. */
  readonly position: number
}

/** A hue with its neighbours on the hue circle; at most two levels. */
export type Hue = DictionaryEntry & { readonly children: readonly DictionaryEntry[] }

/** Further accepted spellings, by the title that they stand for; case-insensitive. */
export type Aliases = Readonly<Record<string, readonly string[]>>

/** The entries of a dictionary field and the texts that name them. */
export type Dictionary<Entry extends DictionaryEntry = DictionaryEntry> = {
  readonly name: string
  /** As in the Constants API: the top level of a tree. */
  readonly entries: readonly Entry[]
  /** All entries, including the children of a tree, each after its parent. */
  readonly all: readonly DictionaryEntry[]
  has(id: number): boolean
  /** The id for a title, short form or alias; for a range, the lower grade; undefined if nothing matches. */
  find(text: string): number | undefined
  /** The two grades of a range such as `VG-EX` or `U to V`, better one first; undefined for any other text. */
  findRange(text: string): readonly [better: DictionaryEntry, lower: DictionaryEntry] | undefined
  /** @throws UnknownEntry */
  title(id: number): string
  /** @throws UnknownEntry */
  short(id: number): string
}

export function dictionary<Entry extends DictionaryEntry>(
  name: string,
  entries: readonly Entry[],
  aliases: Aliases = {},
): Dictionary<Entry> {
  const find = matcher(entries, aliases)
  return { ...lookupById(name, entries), find, findRange: () => undefined }
}

/** A dictionary of grades, best first. A text may name a range of two grades, and a sign after a grade is ignored. */
export function gradeDictionary<Entry extends DictionaryEntry>(
  name: string,
  entries: readonly Entry[],
  aliases: Aliases = {},
): Dictionary<Entry> {
  const match = matcher(entries, aliases)
  const findGrade = (text: string) => match(text) ?? match(text.replace(GRADE_SUFFIX, ''))
  const entryOf = (text: string) => entries.find(({ id }) => id === findGrade(text))
  const findRange = (text: string): readonly [Entry, Entry] | undefined => {
    if (findGrade(text) !== undefined) return undefined
    const [one, other] = (splitRange(text.replace(GRADE_SUFFIX, '')) ?? []).map(entryOf)
    if (one === undefined || other === undefined) return undefined
    return one.position <= other.position ? [one, other] : [other, one]
  }
  return { ...lookupById(name, entries), find: (text) => findGrade(text) ?? findRange(text)?.[1].id, findRange }
}

/** The ignored endings of `EX+` and `U to V Range` (GIA). */
const GRADE_SUFFIX = /\s*[+\-–−]$|\s+(?:range|grade)\s*$/iu

function lookupById<Entry extends DictionaryEntry>(name: string, entries: readonly Entry[]) {
  const all = withChildren(entries)
  const byId: ReadonlyMap<number, DictionaryEntry> = new Map(all.map((entry) => [entry.id, entry]))
  const entryOf = (id: number): DictionaryEntry => {
    const entry = byId.get(id)
    if (entry === undefined) throw new UnknownEntry(`the dictionary ${name} has no id ${id}`)
    return entry
  }
  return {
    name,
    entries,
    all,
    has: (id: number) => byId.has(id),
    title: (id: number) => entryOf(id).title,
    short: (id: number) => entryOf(id).short,
  }
}

export class UnknownEntry extends Error {
  override readonly name = 'UnknownEntry'
}

const withChildren = (entries: readonly (DictionaryEntry | Hue)[]): readonly DictionaryEntry[] =>
  entries.flatMap((entry) => ('children' in entry ? [entry, ...entry.children] : [entry]))

type EntryMatcher = (text: string) => number | undefined

/**
 * Matches a text in this order: exact title, exact short form, then case-insensitively aliases, titles and short forms. Exact
 * short forms do not include children, or the short form of Green-Yellow would hide `GY`, the documented alias of Gray. If two
 * short forms differ only in case, a text that matches neither exactly finds the first entry.
 */
function matcher(entries: readonly (DictionaryEntry | Hue)[], aliases: Aliases): EntryMatcher {
  const all = withChildren(entries)
  const titles = all.map((entry): EntrySpelling => [entry.title, entry.id])
  const exact = firstOf([...titles, ...entries.map((entry): EntrySpelling => [entry.short, entry.id])])
  const spellings = Object.entries(aliases).flatMap(([title, titleAliases]) =>
    titleAliases.map((spelling): EntrySpelling => [spelling, idOf(exact, title)]),
  )
  const shorts = all.map((entry): EntrySpelling => [entry.short, entry.id])
  const folded = firstOf(
    [...spellings, ...titles, ...shorts].map(([text, id]): EntrySpelling => [comparisonKey(text), id]),
  )
  return (text) => exact.get(visibleText(text)) ?? folded.get(comparisonKey(text))
}

type EntrySpelling = readonly [text: string, id: number]

/** Unlike `new Map(pairs)`, keeps the first id of equal texts. */
function firstOf(pairs: readonly EntrySpelling[]): ReadonlyMap<string, number> {
  return new Map([...pairs].reverse())
}

function idOf(titles: ReadonlyMap<string, number>, title: string): number {
  const id = titles.get(title)
  if (id === undefined) throw new Error(`aliases: "${title}" is not a title of the dictionary`)
  return id
}
