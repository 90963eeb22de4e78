import { REQUIRED_FIELDS, type FieldName, fieldsOf } from '../domain/diamond/fields.ts'
import { cutQuality } from '../domain/dictionaries/cut-grades.ts'
import { findClosestName } from '../domain/dictionaries/edit-distance.ts'
import { parseShape } from '../domain/dictionaries/shapes.ts'
import { comparisonKey } from '../domain/visible-text.ts'
import { UnclearFile } from './errors.ts'
import { FIELD_DESCRIPTIONS, type FieldDescription } from '../representations/diamond/field-descriptions.ts'
import { DISCOUNTS, PRICES_PER_CARAT, WITHOUT_FIELD } from './trade-columns.ts'

/** The field of each column of a spreadsheet; undefined for an ignored column. */
export type Columns = readonly (FieldName | undefined)[]

const FIELDS: readonly FieldName[] = fieldsOf('v4')

/** Normalises a heading for comparison: `Stock #` equals `stock`, but `Girdle %` does not equal `Girdle`. */
const normalizeHeading = (heading: string) =>
  comparisonKey(heading)
    .replaceAll('%', 'pct')
    .replaceAll(/[^\p{L}\p{N}]/gu, '')

const descriptionOf = (name: FieldName): FieldDescription => FIELD_DESCRIPTIONS[name]

/** How certain a heading is, lower is better: of several columns for a field the most certain is used, the others are ignored. */
const OWN_NAME = 0
const TRADE_NAME = 1
const VAGUE_NAME = 2
const RANGE_END_NAME = 3

type HeadingMeaning = { readonly field: FieldName; readonly rank: number }

/** Fields by normalised heading: the field's own name, and its names in trade spreadsheets. */
const MEANINGS: ReadonlyMap<string, HeadingMeaning> = new Map(
  FIELDS.flatMap((field) => {
    const { headings = [], vague = [], ends = [] } = descriptionOf(field)
    const meaningsOf = (names: readonly string[], rank: number) =>
      names.map((name) => [normalizeHeading(name), { field, rank }] as const)
    // The last of equal keys wins: a vague name stays vague even if it is also the field's own name.
    return [
      ...meaningsOf([field], OWN_NAME),
      ...meaningsOf(headings, TRADE_NAME),
      ...meaningsOf(ends, RANGE_END_NAME),
      ...meaningsOf(vague, VAGUE_NAME),
    ]
  }),
)

/** The service assigns `id` and `date` itself. */
const IGNORED_HEADINGS: ReadonlySet<string> = new Set(['id', 'date', ...WITHOUT_FIELD.map(normalizeHeading)])

const DISCOUNT_HEADINGS: ReadonlySet<string> = new Set(DISCOUNTS.map(normalizeHeading))
const PER_CARAT_HEADINGS: ReadonlySet<string> = new Set(PRICES_PER_CARAT.map(normalizeHeading))

/** Fields by normalised heading, from `--map`; `undefined` ignores the column. */
export type ColumnMapping = ReadonlyMap<string, FieldName | undefined>

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
      const field = FIELDS.find((name) => name.toLowerCase() === fieldName.toLowerCase())
      if (field !== undefined) return [heading, field]
      throw new UnclearFile(`--map ${optionValue}: unknown field ${fieldName}; the v4 fields are ${FIELDS.join(', ')}`)
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

const joinHeadings = (header: readonly string[]) => header.filter(Boolean).join(', ')

export type HeaderRules = {
  readonly unknown: 'refused' | 'ignored'
  readonly mapping?: ColumnMapping
  /** Fields that must have a column; the required fields of a new diamond by default. */
  readonly required?: readonly FieldName[]
}

/**
 * Maps the columns of a header to v4 fields, by field name in upper or lower case or by a name of the trade.
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
  const columns = meanings.map((meaning) =>
    meaning && isMostCertainMeaning(meaning, meanings) ? meaning.field : undefined,
  )
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
  const fields = new Set(findMeanings(header, mapping, rows).map((meaning) => meaning?.field))
  return required.every((name) => fields.has(name))
}

function findMeanings(
  header: readonly string[],
  mapping: ColumnMapping,
  rows: readonly (readonly string[])[],
): readonly (HeadingMeaning | undefined)[] {
  const meanings = header.map((heading): HeadingMeaning | undefined => {
    if (!mapping.has(normalizeHeading(heading))) return MEANINGS.get(normalizeHeading(heading))
    const field = mapping.get(normalizeHeading(heading))
    return field && { field, rank: OWN_NAME }
  })
  const shapeIndex = findShapeColumn(header, meanings, rows)
  if (shapeIndex !== undefined) meanings[shapeIndex] = { field: 'cutShape', rank: TRADE_NAME }
  return meanings
}

const isIgnoredMeaning = (meaning: HeadingMeaning | undefined) =>
  meaning?.rank === VAGUE_NAME || meaning?.rank === RANGE_END_NAME

const isMostCertainMeaning = (
  { field, rank }: HeadingMeaning,
  meanings: readonly (HeadingMeaning | undefined)[],
): boolean => meanings.every((other) => other?.field !== field || other.rank >= rank)

/** In the trade, "cut" may also mean the shape: without another column for it, a `Cut` column with only shapes is the shape. */
function findShapeColumn(
  header: readonly string[],
  meanings: readonly (HeadingMeaning | undefined)[],
  rows: readonly (readonly string[])[],
): number | undefined {
  if (meanings.some((meaning) => meaning?.field === 'cutShape')) return undefined
  const index = header.findIndex((heading) => normalizeHeading(heading) === 'cut')
  const cuts = rows.map((cells) => cells[index] ?? '').filter((cell) => cell !== '')
  const areShapes = cuts.length > 0 && cuts.every((cut) => parseShape(cut) !== undefined)
  return areShapes && cuts.some((cut) => cutQuality.find(cut) === undefined) ? index : undefined
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

/** Reports fields with several columns, unless the columns are the ends of a range. */
const findDuplicateColumns = (header: readonly string[], columns: Columns): readonly string[] =>
  FIELDS.flatMap((name) => {
    const headings = header.filter((_, index) => columns[index] === name)
    if (
      headings.length < 2 ||
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
