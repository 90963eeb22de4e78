import { isProportion, REQUIRED_FIELDS, type FieldName, fieldsOf } from '../domain/diamond/fields.ts'
import { cutQuality } from '../domain/dictionaries/cut-grades.ts'
import { findClosestName } from '../domain/dictionaries/edit-distance.ts'
import { parseShape } from '../domain/dictionaries/shapes.ts'
import { comparisonKey } from '../domain/visible-text.ts'
import { UnclearFile, UnusableOption, type FileColumn, type Question } from './errors.ts'
import { FIELD_DESCRIPTIONS, type FieldDescription } from '../representations/diamond/field-descriptions.ts'
import { toEnglish } from './german-values.ts'
import { headingsOfProperty, LINE_PROPERTY_NAMES, type LineProperty } from './line-properties.ts'
import { MEASUREMENTS, MEASUREMENTS_HEADINGS } from './proportion-cells.ts'
import { DISCOUNTS, PER_CARAT_PREFIXES, PRICES_PER_CARAT, WITHOUT_FIELD } from './trade-columns.ts'

/** What a column contains: a field of a diamond, several of them, or a property of the line. */
export type ColumnContent = FieldName | typeof MEASUREMENTS | LineProperty

/** The content of each column of a spreadsheet; undefined for an ignored column. */
export type Columns = readonly (ColumnContent | undefined)[]

const FIELDS: readonly FieldName[] = fieldsOf('v4')

export const CONTENTS: readonly ColumnContent[] = [...FIELDS, MEASUREMENTS, ...LINE_PROPERTY_NAMES]

/** Stands for any currency in a normalised heading. */
const CURRENCY = '¤'

/** Signs such as `$` and `US$`, codes and words, as whole words; `in` before them belongs to them. */
const CURRENCY_WORD =
  /(?:(?<![\p{L}\p{N}])in )?(?:(?:(?<![\p{L}\p{N}])(?:us|hk|nz|a|c|s|r))?\p{Sc}|(?<![\p{L}\p{N}])(?:usd|eur|gbp|inr|hkd|aed|cny|rmb|jpy|chf|aud|cad|sgd|ils|nis|thb|zar|rub|rs|dollars?|euros?|rupees?)(?![\p{L}\p{N}]))/gu

/**
 * Normalises a heading for comparison: `Stock #` equals `stock`, but `Girdle %` does not equal `Girdle`. A currency is kept as a
 * sign in front, so that `$/Ct`, `USD / ct` and `Ct $` are equal to each other, but not to `Ct`. Millimetres are left out.
 */
function normalizeHeading(heading: string): string {
  const words = comparisonKey(heading.replaceAll(/(?<=\p{Ll})(?=\p{Lu})|_/gu, ' '))
    .replaceAll(/%|\bpercent(?:age)?\b/g, 'pct')
    .replace(MILLIMETRES, '')
  const otherWords = words.replaceAll(CURRENCY_WORD, '')
  const key = otherWords.replaceAll(/[^\p{L}\p{N}]/gu, '')
  return otherWords === words ? key : `${CURRENCY}${key}`
}

/** After a heading: `Length (mm)`. */
const MILLIMETRES = /(?<=\S)[\s(/[]+mm[\])]?$/

const withCurrency = (heading: string): string => `${CURRENCY}${normalizeHeading(heading)}`

const descriptionOf = (name: FieldName): FieldDescription => FIELD_DESCRIPTIONS[name]

/** How certain a heading is, lower is better: of several columns for a field the most certain is used, the others are ignored. */
const OWN_NAME = 0
const TRADE_NAME = 1
const VAGUE_NAME = 2
const RANGE_END_NAME = 3

type HeadingMeaning = { readonly content: ColumnContent; readonly rank: number }

/** Contents by normalised heading: the field's own name, and its names in trade spreadsheets. */
const MEANINGS: ReadonlyMap<string, HeadingMeaning> = new Map([
  ...MEASUREMENTS_HEADINGS.map((heading): [string, HeadingMeaning] => [
    normalizeHeading(heading),
    { content: MEASUREMENTS, rank: TRADE_NAME },
  ]),
  ...LINE_PROPERTY_NAMES.flatMap((property) =>
    headingsOfProperty(property).map((heading): [string, HeadingMeaning] => [
      normalizeHeading(heading),
      { content: property, rank: TRADE_NAME },
    ]),
  ),
  ...FIELDS.flatMap((field) => {
    const { headings = [], vague = [], ends = [] } = descriptionOf(field)
    const meaningsOf = (names: readonly string[], rank: number) =>
      names.flatMap((name): [string, HeadingMeaning][] => {
        const meaning = { content: field, rank }
        const keys = [normalizeHeading(name)]
        if (field === 'price') keys.push(withCurrency(name))
        // A vague `Depth` does not make `Depth %` vague too.
        if (isProportion(field) && rank === TRADE_NAME) keys.push(normalizeHeading(`${name} %`))
        return keys.map((key) => [key, meaning])
      })
    // The last of equal keys wins: a vague name stays vague even if it is also the field's own name.
    return [
      ...meaningsOf([field], OWN_NAME),
      ...meaningsOf(headings, TRADE_NAME),
      ...meaningsOf(ends, RANGE_END_NAME),
      ...meaningsOf(vague, VAGUE_NAME),
    ]
  }),
])

const WEIGHT_HEADINGS = [...MEANINGS].flatMap(([heading, { content }]) => (content === 'carat' ? [heading] : []))

/** `Price/ct`, `Rate per carat`. With a currency, the weight alone is one too: `$/Ct`, `Carat (USD)`. */
const PER_CARAT_HEADINGS: ReadonlySet<string> = new Set([
  ...PRICES_PER_CARAT.flatMap((heading) => [normalizeHeading(heading), withCurrency(heading)]),
  ...WEIGHT_HEADINGS.flatMap((weight) => [
    `${CURRENCY}${weight}`,
    ...PER_CARAT_PREFIXES.flatMap((prefix) => [`${prefix}${weight}`, `${CURRENCY}${prefix}${weight}`]),
  ]),
])

/** The service assigns `id` and `date` itself. */
const IGNORED_HEADINGS: ReadonlySet<string> = new Set([
  'id',
  'date',
  ...PER_CARAT_HEADINGS,
  ...WITHOUT_FIELD.flatMap((heading) => [normalizeHeading(heading), withCurrency(heading)]),
])

const DISCOUNT_HEADINGS: ReadonlySet<string> = new Set(DISCOUNTS.map(normalizeHeading))

/** A column of the file as the user named it, and its content; `undefined` ignores the column. */
type MappedColumn = { readonly name: string; readonly content: ColumnContent | undefined }

/** Mapped columns by normalised heading. */
export type ColumnMapping = ReadonlyMap<string, MappedColumn>

/**
 * @param fields fields or other contents by column, in upper or lower case; empty to ignore the column
 * @throws UnusableOption for an unknown field
 */
export function parseColumnMapping(fields: Readonly<Record<string, string>>): ColumnMapping {
  return new Map(
    Object.entries(fields).map(([name, field]) => {
      const key = field.trim().toLowerCase()
      const content = CONTENTS.find((one) => one.toLowerCase() === key)
      if (key !== '' && content === undefined) throw new UnusableOption('map', name, describeUnknownField(field))
      return [normalizeHeading(name), { name, content }]
    }),
  )
}

const describeUnknownField = (field: string): string =>
  `must be a field of a v4 diamond, or empty, got ${field.trim()}; the fields are ${FIELDS.join(', ')}. ` +
  `A column can also be ${MEASUREMENTS}, or the line's ${LINE_PROPERTY_NAMES.join(', ')}`

/** Values by column, then by text. */
export type ValueMapping = Readonly<Record<string, Readonly<Record<string, string>>>>

/** Values by column index, then by text in the form of `comparisonKey`. */
export type ValueMap = ReadonlyMap<number, ReadonlyMap<string, string>>

/** @throws UnusableOption for a column that the header does not have */
export function groupValueMappings(header: readonly string[], values: ValueMapping): ValueMap {
  const names = namesOf(header)
  return new Map(
    Object.entries(values).map(([column, valuesByText]) => {
      const index = names.findIndex((name) => normalizeHeading(name) === normalizeHeading(column))
      if (index < 0) throw new UnusableOption('mapValue', column, describeUnknownName(header))
      const entries = Object.entries(valuesByText).map(([text, value]) => [comparisonKey(text), value.trim()] as const)
      return [index, new Map(entries)]
    }),
  )
}

/** The headings; a column without one is named by its number. */
const namesOf = (header: readonly string[]): readonly string[] =>
  header.map((heading, index) => heading || `Column ${index + 1}`)

const describeUnknownName = (header: readonly string[]): string =>
  `names an unknown column; the columns are ${header.filter(Boolean).join(', ')}`

/** Whether a header is that of `adamant export`: a diamond's JSON begins with `id` and ends with `date`. */
export const isExportHeader = (header: readonly string[]): boolean => header[0] === 'id' && header.at(-1) === 'date'

export type HeaderRules = {
  readonly unknown: 'refused' | 'ignored'
  readonly mapping?: ColumnMapping
  /** Fields that must have a column; the required fields of a new diamond by default. */
  readonly required?: readonly FieldName[]
}

/** A header with the content of its columns. A column without a heading has its number for a name if it is used. */
type ReadHeader = {
  readonly names: readonly string[]
  readonly columns: Columns
  readonly sampleRows: readonly (readonly string[])[]
}

/**
 * Maps the columns of a header to v4 fields and properties of a line, by field name in upper or lower case or by a name of the
 * trade. Of two columns for the origin, the other one is compared with the one that is stored.
 * @param sampleRows first rows below the header; they decide whether `Cut` is the shape
 * @throws UnclearFile with all questions: unknown columns, several columns for a field, missing required fields; UnusableOption
 */
export function readHeader(
  header: readonly string[],
  { unknown, mapping = new Map(), required = REQUIRED_FIELDS }: HeaderRules,
  sampleRows: ReadHeader['sampleRows'] = [],
): ReadHeader {
  const allNames = namesOf(header)
  for (const [key, { name }] of mapping)
    if (!allNames.some((one) => normalizeHeading(one) === key))
      throw new UnusableOption('map', name, describeUnknownName(header))
  const meanings = findMeanings(allNames, mapping, sampleRows)
  const columns = meanings.map((meaning): ColumnContent | undefined => {
    if (meaning === undefined || isMostCertainMeaning(meaning, meanings)) return meaning?.content
    return meaning.content === 'isLabGrown' ? 'growthType' : undefined
  })
  const names = header.map((heading, index) => (columns[index] === undefined ? heading : (allNames[index] ?? heading)))
  const isKnown = (heading: string, index: number) =>
    columns[index] !== undefined ||
    mapping.has(heading) ||
    IGNORED_HEADINGS.has(heading) ||
    isIgnoredMeaning(meanings[index])
  const unknownNames = names.filter((name, index) => name !== '' && !isKnown(normalizeHeading(name), index))
  const missing = required.filter((name) => !columns.includes(name))
  const questions = [
    ...(unknown === 'refused' ? unknownNames.map(askForUnknownColumn) : []),
    ...findRepeatedFields(names, columns),
    ...findAmbiguousPrices(names, columns, mapping),
    ...missing.map((field): Question => ({
      kind: 'field without column',
      ask: `The header has no column for ${field}`,
      field,
      choices: names.filter((name, index) => name !== '' && !required.some((one) => one === columns[index])),
    })),
  ]
  const readHeader = { names, columns, sampleRows }
  if (questions.length > 0) throw new UnclearFile(questions, columnsOf(readHeader))
  return readHeader
}

/** The columns with a name. */
export const columnsOf = ({ names, columns, sampleRows }: ReadHeader): readonly FileColumn[] =>
  names.flatMap((name, index) =>
    name === '' ? [] : [{ name, content: columns[index] ?? null, examples: examplesIn(sampleRows, index) }],
  )

function examplesIn(rows: ReadHeader['sampleRows'], index: number): readonly string[] {
  const examples = new Set<string>()
  for (const cells of rows) {
    const text = cells[index] ?? ''
    if (text !== '') examples.add(text.slice(0, MAX_EXAMPLE_LENGTH))
    if (examples.size === MAX_EXAMPLES) break
  }
  return [...examples]
}

const MAX_EXAMPLES = 3
const MAX_EXAMPLE_LENGTH = 40

/** Whether a header, with the first rows below it, has a column for each required field. */
export function hasRequiredColumns(
  header: readonly string[],
  { mapping = new Map(), required = REQUIRED_FIELDS }: HeaderRules,
  rows: readonly (readonly string[])[],
): boolean {
  const contents = new Set(findMeanings(header, mapping, rows).map((meaning) => meaning?.content))
  return required.every((name) => contents.has(name))
}

function findMeanings(
  header: readonly string[],
  mapping: ColumnMapping,
  rows: readonly (readonly string[])[],
): readonly (HeadingMeaning | undefined)[] {
  const meanings = header.map((heading): HeadingMeaning | undefined => {
    const mapped = mapping.get(normalizeHeading(heading))
    if (mapped === undefined) return MEANINGS.get(normalizeHeading(heading))
    return mapped.content && { content: mapped.content, rank: OWN_NAME }
  })
  const shapeIndex = findShapeColumn(meanings, rows)
  if (shapeIndex !== undefined) meanings[shapeIndex] = { content: 'cutShape', rank: TRADE_NAME }
  const heightIndex = findHeightColumn(meanings, rows)
  if (heightIndex !== undefined) meanings[heightIndex] = { content: 'proportions.height', rank: TRADE_NAME }
  return meanings
}

const isIgnoredMeaning = (meaning: HeadingMeaning | undefined) =>
  meaning?.rank === VAGUE_NAME || meaning?.rank === RANGE_END_NAME

const isMostCertainMeaning = (
  { content, rank }: HeadingMeaning,
  meanings: readonly (HeadingMeaning | undefined)[],
): boolean => meanings.every((other) => other?.content !== content || other.rank >= rank)

/**
 * In the trade, "cut" may also mean the shape. Without another column for it, a `Cut` column is the shape if all its cells are
 * shapes, or if another column is the grade and no cell is one, as in IDEX's files.
 */
function findShapeColumn(
  meanings: readonly (HeadingMeaning | undefined)[],
  rows: readonly (readonly string[])[],
): number | undefined {
  if (meanings.some((meaning) => meaning?.content === 'cutShape')) return undefined
  const index = meanings.findIndex((meaning) => meaning?.content === 'cutQuality' && meaning.rank === VAGUE_NAME)
  const hasGrade = meanings.some((meaning) => meaning?.content === 'cutQuality' && meaning.rank < VAGUE_NAME)
  const cuts = rows.map((cells) => cells[index] ?? '').filter((cell) => cell !== '')
  const isShape = (cut: string) => parseShape(toEnglish('cutShape', cut)) !== undefined
  const isGrade = (cut: string) => cutQuality.find(toEnglish('cutQuality', cut)) !== undefined
  if (cuts.length === 0) return undefined
  const areShapes = cuts.every(isShape) ? !cuts.every(isGrade) : hasGrade && !cuts.some(isGrade)
  return areShapes ? index : undefined
}

/** A column `Depth` is in percent, unless its cells are too small for that: then it is the height in millimetres. */
function findHeightColumn(
  meanings: readonly (HeadingMeaning | undefined)[],
  rows: readonly (readonly string[])[],
): number | undefined {
  const index = meanings.findIndex((meaning) => meaning?.content === 'proportions.depth' && meaning.rank === VAGUE_NAME)
  const depths = rows
    .map((cells) => Number.parseFloat((cells[index] ?? '').replace(',', '.')))
    .filter((depth) => depth > 0)
  return depths.length > 0 && depths.every((depth) => depth > 1.1 && depth < 25) ? index : undefined
}

/** Next to a column for a discount, `Price` may be the price per carat, as on RapNet; the user must decide. */
function findAmbiguousPrices(names: readonly string[], columns: Columns, mapping: ColumnMapping): readonly Question[] {
  const column = names[columns.indexOf('price')] ?? ''
  const isVague = !mapping.has(normalizeHeading(column)) && MEANINGS.get(normalizeHeading(column))?.rank === VAGUE_NAME
  const discount = names.find((name) => DISCOUNT_HEADINGS.has(normalizeHeading(name)))
  // Of several columns for the price, the user chooses one first.
  if (columns.indexOf('price') !== columns.lastIndexOf('price')) return []
  if (!isVague || discount === undefined || names.some((name) => PER_CARAT_HEADINGS.has(normalizeHeading(name))))
    return []
  const ask = `The column ${column} may be the price per carat, since there is a column ${discount}`
  return [{ kind: 'price per carat', ask, column, choices: ['price', ''] }]
}

/** Number of cells that are known headings. */
export const countKnownHeadings = (
  cells: readonly string[],
  { mapping = new Map() }: Pick<HeaderRules, 'mapping'>,
): number =>
  cells.filter((cell) => {
    const heading = normalizeHeading(cell)
    return heading !== '' && (mapping.has(heading) || MEANINGS.has(heading) || IGNORED_HEADINGS.has(heading))
  }).length

/**
 * Asks for each column of a field with several columns, unless the columns are the ends of a range. A proportion is taken from
 * the first column that has it, such as `Measurements` before `Length`.
 */
const findRepeatedFields = (names: readonly string[], columns: Columns): readonly Question[] =>
  FIELDS.flatMap((field) => {
    const repeated = names.filter((_, index) => columns[index] === field)
    if (
      repeated.length < 2 ||
      isProportion(field) ||
      repeated.every((name) => MEANINGS.get(normalizeHeading(name))?.rank === RANGE_END_NAME)
    )
      return []
    const ask = `Several columns for ${field}: ${repeated.join(' and ')}`
    return repeated.map((column): Question => ({
      kind: 'several columns for a field',
      ask,
      column,
      choices: [field, ''],
    }))
  })

function askForUnknownColumn(column: string): Question {
  const closestField = findClosestName(comparisonKey(column), FIELDS)
  const hint = closestField === undefined ? '' : `; did you mean ${closestField}?`
  const ask = `The column ${column.slice(0, 60)} is not a field of a v4 diamond${hint}`
  return { kind: 'unknown column', ask, column, choices: [...CONTENTS, ''] }
}

/** @param index of the column, from 0 */
export const askForMissingHeading = (index: number, text: string, line: number): Question => ({
  kind: 'column without heading',
  ask: `Column ${index + 1} has no heading, but contains ${text.slice(0, 60)} in line ${line}`,
  column: `Column ${index + 1}`,
  choices: [...CONTENTS, ''],
})

/** Whether the user has mapped a column without a heading. */
export const isMapped = (mapping: ColumnMapping, index: number): boolean =>
  mapping.has(normalizeHeading(`Column ${index + 1}`))
