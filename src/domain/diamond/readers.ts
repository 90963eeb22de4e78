import { parseCuletSize, parseGirdle } from '../dictionaries/girdle.ts'
import { isId, parseEntry, type DictionaryName } from '../dictionaries/lookup.ts'
import { isShapeId, mistypedShape, parseShape } from '../dictionaries/shapes.ts'
import type { FieldName } from './fields.ts'
import { shown } from './shown.ts'
import { readText } from './texts.ts'

export type ApiVersion = 'v3' | 'v4'

/** Reads one JSON value other than null; a problem completes the sentence that starts with the field's name. */
export type Reader = (value: unknown) => { readonly value: unknown } | { readonly problem: string }

const CARAT_MAX = 10_000
const SKU_MAX = 128
const SHAPE_MAX = 64

/** No dictionary has a longer word: what is longer is not looked up, which takes time that grows with it. */
const WORD_MAX = 100

const sku: Reader = (value) => {
  const text = readText(value, SKU_MAX)
  if (text !== undefined) return { value: text }
  return { problem: `must be a text of 1 to ${SKU_MAX} characters, without control characters, got ${shown(value)}` }
}

const carat: Reader = (value) =>
  isNumber(value) && value > 0 && value <= CARAT_MAX
    ? { value }
    : { problem: `must be a number over 0 and at most ${CARAT_MAX}, got ${shown(value)}` }

const price: Reader = (value) =>
  isNumber(value) && value >= 0
    ? { value: value + 0 }
    : { problem: `must be a number of at least 0, got ${shown(value)}` }

const flag: Reader = (value) =>
  typeof value === 'boolean' ? { value } : { problem: `must be true or false, got ${shown(value)}` }

const level: Reader = (value) =>
  value === 0 || value === 1 || value === 2 ? { value } : { problem: `must be 0, 1 or 2, got ${shown(value)}` }

/** The integer id: all that v3 takes. */
const byId =
  (dictionary: DictionaryName): Reader =>
  (value) =>
    typeof value === 'number' && isId(dictionary, value)
      ? { value }
      : { problem: `must be an id of the dictionary ${dictionary}, got ${shown(value)}` }

/** The title, the short form, an alias, or the id. */
const byName =
  (dictionary: DictionaryName): Reader =>
  (value) => {
    if (typeof value === 'number' && isId(dictionary, value)) return { value }
    const id = isWord(value) ? parseEntry(dictionary, value.trim()) : undefined
    if (id !== undefined) return { value: id }
    return { problem: `must be a title, short form, alias or id of the dictionary ${dictionary}, got ${shown(value)}` }
  }

const shapeById: Reader = (value) =>
  typeof value === 'number' && isShapeId(value)
    ? { value }
    : { problem: `must be an id of the dictionary cutShape, got ${shown(value)}` }

/** A shape that no dictionary knows is kept as it was written, unless it is a known one mistyped: that has no scores. */
const shapeByName: Reader = (value) => {
  if (typeof value === 'number') return shapeById(value)
  const text = readText(value, SHAPE_MAX)
  if (text === undefined || /^\d+$/.test(text)) {
    const own = `another text of 1 to ${SHAPE_MAX} characters, without control characters and not digits alone`
    return { problem: `must be a cut shape's title, alias or id, or ${own}, got ${shown(value)}` }
  }
  const known = parseShape(text)
  const meant = known === undefined ? mistypedShape(text) : undefined
  if (meant === undefined) return { value: known ?? text }
  return {
    problem: `must be a known cut shape, or one that is no misspelling of it; did you mean ${meant}? got ${shown(value)}`,
  }
}

const culetSize: Reader = (value) => {
  const size = isWord(value) ? parseCuletSize(value.trim()) : undefined
  return size !== undefined
    ? { value: size }
    : { problem: `must be a culet size from None to Extremely Large, got ${shown(value)}` }
}

const girdle: Reader = (value) => {
  const thickness = isWord(value) ? parseGirdle(value) : undefined
  return thickness !== undefined
    ? { value: thickness }
    : { problem: `must be a girdle thickness such as Medium, or a range such as Thin-Medium, got ${shown(value)}` }
}

const isWord = (value: unknown): value is string => typeof value === 'string' && value.length <= WORD_MAX

const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value)

const DICTIONARY_FIELDS = [
  'clarity',
  'color',
  'cutQuality',
  'polish',
  'symmetry',
  'fluorIntensity',
  'fluorColor',
  'fancyGrade',
  'colorHue',
  'colorModifier',
] as const satisfies readonly (FieldName & DictionaryName)[]

const dictionaryReaders = (read: (dictionary: DictionaryName) => Reader) =>
  DICTIONARY_FIELDS.map((name): [FieldName, Reader] => [name, read(name)])

const READERS: Readonly<Record<ApiVersion, ReadonlyMap<string, Reader>>> = {
  v3: new Map<FieldName, Reader>([
    ['sku', sku],
    ['price', price],
    ['isColored', flag],
    ['isPublished', flag],
    ['cutShape', shapeById],
    ['carat', carat],
    ...dictionaryReaders(byId),
  ]),
  v4: new Map<FieldName, Reader>([
    ['sku', sku],
    ['price', price],
    ['isColored', flag],
    ['isLabGrown', flag],
    ['cutShape', shapeByName],
    ['carat', carat],
    ...dictionaryReaders(byName),
    ['culetSize', culetSize],
    ['girdle', girdle],
    ['access', level],
    ['dataAccess', level],
  ]),
}

/** The writable fields of a version's diamond and how each is read. */
export const readersOf = (version: ApiVersion): ReadonlyMap<string, Reader> => READERS[version]
