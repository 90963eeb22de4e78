import { isProportion, REQUIRED_FIELDS, type FieldName, fieldsOf } from '../domain/diamond/fields.ts'
import { cutQuality } from '../domain/dictionaries/cut-grades.ts'
import { findClosestName } from '../domain/dictionaries/edit-distance.ts'
import { parseShape } from '../domain/dictionaries/shapes.ts'
import { comparisonKey } from '../domain/visible-text.ts'
import { UnclearFile } from './errors.ts'
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

const CONTENTS: readonly ColumnContent[] = [...FIELDS, MEASUREMENTS, ...LINE_PROPERTY_NAMES]

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

/** Contents by normalised heading, from `--map`; `undefined` ignores the column. */
export type ColumnMapping = ReadonlyMap<string, ColumnContent | undefined>

/** Parses `--map`, such as `Lot=sku` or `Remark=`. @throws UnclearFile for an unknown field */
export function parseColumnMapping(optionValues: readonly string[]): ColumnMapping {
  return new Map(
    optionValues.map((optionValue) => {
      const separatorIndex = optionValue.lastIndexOf('=')
      if (separatorIndex < 1)
        throw new UnclearFile(`--map ${optionValue}: must be COLUMN=FIELD, or COLUMN= to ignore the column`)
      const [heading, fieldName] = [
        normalizeHeading(optionValue.slice(0, separatorIndex)),
        optionValue.slice(separatorIndex + 1).trim(),
      ]
      if (fieldName === '') return [heading, undefined]
      const content = CONTENTS.find((name) => name.toLowerCase() === fieldName.toLowerCase())
      if (content !== undefined) return [heading, content]
      throw new UnclearFile(
        `--map ${optionValue}: unknown field ${fieldName}; the v4 fields are ${FIELDS.join(', ')}. ` +
          `A column can also be ${MEASUREMENTS}, or the line's ${LINE_PROPERTY_NAMES.join(', ')}`,
      )
    }),
  )
}

/** Values from `--map-value`, by column index, then by text in lower case. */
export type ValueMap = ReadonlyMap<number, ReadonlyMap<string, string>>

/** One `--map-value`. */
export type ValueMapping = { readonly column: string; readonly text: string; readonly value: string }

/** Parses `--map-value`, such as `Cut:Super Ideal=Ideal` or `Price:ask=`. @throws UnclearFile for another format */
export function parseValueMappings(optionValues: readonly string[]): readonly ValueMapping[] {
  return optionValues.map((optionValue) => {
    const [, column = '', text = '', value = ''] = /^([^:]+):(.+)=([^=]*)$/.exec(optionValue) ?? []
    if (column === '')
      throw new UnclearFile(`--map-value ${optionValue}: must be COLUMN:TEXT=VALUE, or COLUMN:TEXT= for no value`)
    return { column, text: comparisonKey(text), value: value.trim() }
  })
}

/** @throws UnclearFile for a column that the header does not have */
export function groupValueMappings(header: readonly string[], values: readonly ValueMapping[]): ValueMap {
  const byColumn = new Map<number, Map<string, string>>()
  for (const { column, text, value } of values) {
    const index = header.findIndex((heading) => normalizeHeading(heading) === normalizeHeading(column))
    if (index < 0)
      throw new UnclearFile(`--map-value: unknown column ${column}; the columns are ${joinHeadings(header)}`)
    byColumn.set(index, (byColumn.get(index) ?? new Map<string, string>()).set(text, value))
  }
  return byColumn
}

/** Whether a header is that of `adamant export`: a diamond's JSON begins with `id` and ends with `date`. */
export const isExportHeader = (header: readonly string[]): boolean => header[0] === 'id' && header.at(-1) === 'date'

const joinHeadings = (header: readonly string[]) => header.filter(Boolean).join(', ')

export type HeaderRules = {
  readonly unknown: 'refused' | 'ignored'
  readonly mapping?: ColumnMapping
  /** Fields that must have a column; the required fields of a new diamond by default. */
  readonly required?: readonly FieldName[]
}

/**
 * Maps the columns of a header to v4 fields and properties of a line, by field name in upper or lower case or by a name of the
 * trade. Of two columns for the origin, the other one is compared with the one that is stored.
 * @param rows first rows below the header; they decide whether `Cut` is the shape
 * @throws UnclearFile listing all problems: unknown columns, several columns for a field, missing required fields
 */
export function readHeader(
  header: readonly string[],
  { unknown, mapping = new Map(), required = REQUIRED_FIELDS }: HeaderRules,
  rows: readonly (readonly string[])[] = [],
): Columns {
  const faults: string[] = []
  for (const heading of mapping.keys()) {
    if (!header.some((one) => normalizeHeading(one) === heading))
      faults.push(`--map: unknown column; the columns are ${joinHeadings(header)}`)
  }
  const meanings = findMeanings(header, mapping, rows)
  const columns = meanings.map((meaning): ColumnContent | undefined => {
    if (meaning === undefined || isMostCertainMeaning(meaning, meanings)) return meaning?.content
    return meaning.content === 'isLabGrown' ? 'growthType' : undefined
  })
  if (unknown === 'refused') {
    const isKnown = (heading: string, index: number) =>
      columns[index] !== undefined ||
      mapping.has(heading) ||
      IGNORED_HEADINGS.has(heading) ||
      isIgnoredMeaning(meanings[index])
    faults.push(
      ...header
        .filter((heading, index) => heading !== '' && !isKnown(normalizeHeading(heading), index))
        .map(describeUnknownColumn),
    )
  }
  faults.push(...findDuplicateColumns(header, columns), ...findAmbiguousPrices(header, columns, mapping))
  const missing = required.filter((name) => !columns.includes(name))
  if (missing.length > 0) faults.push(`The header has no column for ${missing.join(', ')}`)
  if (faults.length > 0) throw new UnclearFile(faults.join('\n'))
  return columns
}

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
    if (!mapping.has(normalizeHeading(heading))) return MEANINGS.get(normalizeHeading(heading))
    const content = mapping.get(normalizeHeading(heading))
    return content && { content, rank: OWN_NAME }
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

/** In the trade, "cut" may also mean the shape: without another column for it, a `Cut` column with only shapes is the shape. */
function findShapeColumn(
  meanings: readonly (HeadingMeaning | undefined)[],
  rows: readonly (readonly string[])[],
): number | undefined {
  if (meanings.some((meaning) => meaning?.content === 'cutShape')) return undefined
  const index = meanings.findIndex((meaning) => meaning?.content === 'cutQuality' && meaning.rank === VAGUE_NAME)
  const cuts = rows.map((cells) => cells[index] ?? '').filter((cell) => cell !== '')
  const areShapes = cuts.length > 0 && cuts.every((cut) => parseShape(toEnglish('cutShape', cut)) !== undefined)
  return areShapes && cuts.some((cut) => cutQuality.find(toEnglish('cutQuality', cut)) === undefined)
    ? index
    : undefined
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

/** Next to a column for a discount, `Price` may be the price per carat, as on RapNet; the operator must decide. */
function findAmbiguousPrices(header: readonly string[], columns: Columns, mapping: ColumnMapping): readonly string[] {
  const priceHeading = header[columns.indexOf('price')] ?? ''
  const isVague =
    !mapping.has(normalizeHeading(priceHeading)) && MEANINGS.get(normalizeHeading(priceHeading))?.rank === VAGUE_NAME
  const discountHeading = header.find((heading) => DISCOUNT_HEADINGS.has(normalizeHeading(heading)))
  if (
    !isVague ||
    discountHeading === undefined ||
    header.some((heading) => PER_CARAT_HEADINGS.has(normalizeHeading(heading)))
  )
    return []
  return [
    `The column ${priceHeading} may be the price per carat, since there is a column ${discountHeading}: use --map '${priceHeading}=price' if it ` +
      `is the price of the stone, or --map '${priceHeading}=' to ignore it`,
  ]
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
 * Reports fields with several columns, unless the columns are the ends of a range. A proportion is taken from the first column
 * that has it, such as `Measurements` before `Length`.
 */
const findDuplicateColumns = (header: readonly string[], columns: Columns): readonly string[] =>
  FIELDS.flatMap((name) => {
    const headings = header.filter((_, index) => columns[index] === name)
    if (
      headings.length < 2 ||
      isProportion(name) ||
      headings.every((heading) => MEANINGS.get(normalizeHeading(heading))?.rank === RANGE_END_NAME)
    )
      return []
    return [`Several columns for ${name}: ${headings.join(' and ')} (use --map 'COLUMN=' to ignore one)`]
  })

function describeUnknownColumn(heading: string): string {
  const closestField = findClosestName(comparisonKey(heading), FIELDS)
  const hint = closestField === undefined ? '' : `; did you mean ${closestField}?`
  return `The column ${heading.slice(0, 60)} is not a field of a v4 diamond${hint} (use --ignore-unknown to ignore it)`
}
