import { clarity, clarityAliases, color, colorAliases } from './color-and-clarity.ts'
import { colorHue, colorHueAliases } from './color-hue.ts'
import { cutQuality, cutQualityAliases, finishAliases, polish, symmetry } from './cut-grades.ts'
import { matcher, withChildren, type Aliases, type Entry, type Hue } from './entry.ts'
import { colorModifier, colorModifierAliases, fancyGrade, fancyGradeAliases } from './fancy-color.ts'
import { fluorColor, fluorColorAliases, fluorIntensity, fluorIntensityAliases } from './fluorescence.ts'

/** The dictionaries whose entries have a short form. Cut shapes are a tree of their own: shapes.ts. */
export type DictionaryName =
  | 'color'
  | 'clarity'
  | 'cutQuality'
  | 'polish'
  | 'symmetry'
  | 'fluorIntensity'
  | 'fluorColor'
  | 'fancyGrade'
  | 'colorHue'
  | 'colorModifier'

type Dictionary = {
  readonly byId: ReadonlyMap<number, Entry>
  readonly match: (text: string) => number | undefined
}

function dictionary(entries: readonly (Entry | Hue)[], aliases: Aliases): Dictionary {
  return { byId: new Map(withChildren(entries).map((entry) => [entry.id, entry])), match: matcher(entries, aliases) }
}

const DICTIONARIES: Readonly<Record<DictionaryName, Dictionary>> = {
  color: dictionary(color, colorAliases),
  clarity: dictionary(clarity, clarityAliases),
  cutQuality: dictionary(cutQuality, cutQualityAliases),
  polish: dictionary(polish, finishAliases),
  symmetry: dictionary(symmetry, finishAliases),
  fluorIntensity: dictionary(fluorIntensity, fluorIntensityAliases),
  fluorColor: dictionary(fluorColor, fluorColorAliases),
  fancyGrade: dictionary(fancyGrade, fancyGradeAliases),
  colorHue: dictionary(colorHue, colorHueAliases),
  colorModifier: dictionary(colorModifier, colorModifierAliases),
}

export const isId = (name: DictionaryName, id: number): boolean => DICTIONARIES[name].byId.has(id)

/** The id of the entry that a title, short form or alias names; undefined when none does. */
export const parseEntry = (name: DictionaryName, text: string): number | undefined => DICTIONARIES[name].match(text)

/** @throws UnknownEntry */
export const title = (name: DictionaryName, id: number): string => entryOf(name, id).title

/** @throws UnknownEntry */
export const short = (name: DictionaryName, id: number): string => entryOf(name, id).short

/** Every entry of a dictionary, the children of a tree included, each behind its parent. */
export const entriesOf = (name: DictionaryName): readonly Entry[] => [...DICTIONARIES[name].byId.values()]

export class UnknownEntry extends Error {
  override readonly name = 'UnknownEntry'
}

function entryOf(name: DictionaryName, id: number): Entry {
  const entry = DICTIONARIES[name].byId.get(id)
  if (entry === undefined) throw new UnknownEntry(`the dictionary ${name} has no id ${id}`)
  return entry
}
