import { comparisonKey, visibleText } from '../visible-text.ts'

/** What stands between two words of a scale: `VG-EX`, `Thin – Thick`, `EX/VG`, `U to V`. */
const RANGE_SEPARATOR = /\s*[-–—/]\s*|\s+(?:to|bis|à)\s+/iu

/** The two texts that a text joins; undefined for one that joins none, or more. */
export function splitRange(text: string): readonly [from: string, to: string] | undefined {
  const [from = '', to = '', ...others] = text.split(RANGE_SEPARATOR)
  return from === '' || to === '' || others.length > 0 ? undefined : [from, to]
}

/** A line of a dictionary, as the Constants API shows it. Ids never change meaning: events hold them. */
export type DictionaryEntry = {
  readonly id: number
  readonly title: string
  readonly short: string
  /** Where it stands on its scale: lists are in ascending position. */
  readonly position: number
}

/** A hue with its neighbours on the hue circle, `[]` when it has none; two levels, never more. */
export type Hue = DictionaryEntry & { readonly children: readonly DictionaryEntry[] }

/** Further spellings that input may use, by the title they stand for; compared without regard to case. */
export type Aliases = Readonly<Record<string, readonly string[]>>

/** A dictionary of a field: its entries by id, and the texts that name them. */
export type Dictionary<Line extends DictionaryEntry = DictionaryEntry> = {
  /** The field's, as the Constants API has it. */
  readonly name: string
  /** As the Constants API shows them, a tree by its top level. */
  readonly entries: readonly Line[]
  /** Every entry, the children of a tree included, each behind its parent. */
  readonly all: readonly DictionaryEntry[]
  has(id: number): boolean
  /** The id of the entry that a title, short form or alias names, of two entries the lower one; undefined when none does. */
  find(text: string): number | undefined
  /** The two entries of a scale that a text such as `VG-EX` or `U to V` names, the better one first; undefined for any other. */
  findRange(text: string): readonly [better: DictionaryEntry, lower: DictionaryEntry] | undefined
  /** @throws UnknownEntry */
  title(id: number): string
  /** @throws UnknownEntry */
  short(id: number): string
}

/** @param aliases none unless told: then titles and short forms are all there is */
export function dictionary<Line extends DictionaryEntry>(
  name: string,
  entries: readonly Line[],
  aliases: Aliases = {},
): Dictionary<Line> {
  const find = matcher(entries, aliases)
  return { ...lookupById(name, entries), find, findRange: () => undefined }
}

/**
 * A dictionary whose entries are grades, from the best to the worst: a text may name two of them, and a sign behind a grade
 * does not count.
 */
export function gradeDictionary<Line extends DictionaryEntry>(
  name: string,
  entries: readonly Line[],
  aliases: Aliases = {},
): Dictionary<Line> {
  const match = matcher(entries, aliases)
  const findOne = (text: string) => match(text) ?? match(text.replace(GRADE_SUFFIX, ''))
  const entryOf = (text: string) => entries.find(({ id }) => id === findOne(text))
  const findTwo = (text: string): readonly [Line, Line] | undefined => {
    if (findOne(text) !== undefined) return undefined
    const [one, other] = (splitRange(text.replace(GRADE_SUFFIX, '')) ?? []).map(entryOf)
    if (one === undefined || other === undefined) return undefined
    return one.position <= other.position ? [one, other] : [other, one]
  }
  return { ...lookupById(name, entries), find: (text) => findOne(text) ?? findTwo(text)?.[1].id, findRange: findTwo }
}

/** `EX+`, `U to V Range` (GIA). */
const GRADE_SUFFIX = /\s*[+\-–−]$|\s+(?:range|grade)\s*$/iu

function lookupById<Line extends DictionaryEntry>(name: string, entries: readonly Line[]) {
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

/** A dictionary's entries, those of a tree each followed by its children. */
const withChildren = (entries: readonly (DictionaryEntry | Hue)[]): readonly DictionaryEntry[] =>
  entries.flatMap((entry) => ('children' in entry ? [entry, ...entry.children] : [entry]))

type EntryMatcher = (text: string) => number | undefined

/**
 * The id of the entry a text names: exact titles first, then exact short forms, then without regard to case the aliases,
 * titles and short forms. Children take no part in the exact short forms, or Green-Yellow's short form would hide `GY`,
 * the documented alias of Gray. Where two short forms differ only in case, the first entry has what neither is exactly.
 */
function matcher(entries: readonly (DictionaryEntry | Hue)[], aliases: Aliases): EntryMatcher {
  const all = withChildren(entries)
  const titles = all.map((entry): EntrySpelling => [entry.title, entry.id])
  const exact = firstOf([...titles, ...entries.map((entry): EntrySpelling => [entry.short, entry.id])])
  const spellings = Object.entries(aliases).flatMap(([title, spelt]) =>
    spelt.map((spelling): EntrySpelling => [spelling, idOf(exact, title)]),
  )
  const shorts = all.map((entry): EntrySpelling => [entry.short, entry.id])
  const folded = firstOf(
    [...spellings, ...titles, ...shorts].map(([text, id]): EntrySpelling => [comparisonKey(text), id]),
  )
  return (text) => exact.get(visibleText(text)) ?? folded.get(comparisonKey(text))
}

type EntrySpelling = readonly [text: string, id: number]

/** Unlike `new Map(pairs)`, the first of two equal texts keeps its id. */
function firstOf(pairs: readonly EntrySpelling[]): ReadonlyMap<string, number> {
  return new Map([...pairs].reverse())
}

function idOf(titles: ReadonlyMap<string, number>, title: string): number {
  const id = titles.get(title)
  if (id === undefined) throw new Error(`aliases stand under ${title}, which is no title`)
  return id
}
