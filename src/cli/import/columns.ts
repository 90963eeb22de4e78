import { REQUIRED_FIELDS, type FieldName, fieldsOf } from '../../domain/diamond/fields.ts'
import { cutQuality } from '../../domain/dictionaries/cut-grades.ts'
import { findClosestName } from '../../domain/dictionaries/edit-distance.ts'
import { parseShape } from '../../domain/dictionaries/shapes.ts'
import { comparisonKey } from '../../domain/visible-text.ts'
import { BadUsage } from '../../maintenance/operation.ts'
import { FIELD_DESCRIPTIONS, type FieldDescription } from '../../representations/diamond/field-descriptions.ts'
import { DISCOUNTS, PRICES_PER_CARAT, WITHOUT_FIELD } from './trade-columns.ts'

/** The field of each column of a spreadsheet; undefined for an ignored column. */
export type Columns = readonly (FieldName | undefined)[]

const FIELDS: readonly FieldName[] = fieldsOf('v4')

/** Normalises a heading for comparison: `Stock #` equals `stock`, but `Girdle %` does not equal `Girdle`. */
const normalizeHeading = (heading: string) =>
  comparisonKey(heading)
    .replaceAll('%', 'pct')
    .replaceAll(/[^\p{L}\p{N}]/gu, '')

const wordsOf = (name: FieldName): FieldDescription => FIELD_DESCRIPTIONS[name]

/** How certain a heading is, lower is better: of several columns for a field the most certain is used, the others are ignored. */
const OWN_NAME = 0
const TRADE_NAME = 1
const VAGUE_NAME = 2
const RANGE_END_NAME = 3

type HeadingMeaning = { readonly field: FieldName; readonly sureness: number }

/** Fields by normalised heading: the field's own name, and its names in trade spreadsheets. */
const MEANINGS: ReadonlyMap<string, HeadingMeaning> = new Map(
  FIELDS.flatMap((field) => {
    const { headings = [], vague = [], ends = [] } = wordsOf(field)
    const meant = (names: readonly string[], sureness: number) =>
      names.map((name) => [normalizeHeading(name), { field, sureness }] as const)
    // The last of equal keys wins: a vague name stays vague even if it is also the field's own name.
    return [
      ...meant([field], OWN_NAME),
      ...meant(headings, TRADE_NAME),
      ...meant(ends, RANGE_END_NAME),
      ...meant(vague, VAGUE_NAME),
    ]
  }),
)

/** The service assigns `id` and `date` itself. */
const IGNORED_HEADINGS: ReadonlySet<string> = new Set(['id', 'date', ...WITHOUT_FIELD.map(normalizeHeading)])

const DISCOUNT: ReadonlySet<string> = new Set(DISCOUNTS.map(normalizeHeading))
const PER_CARAT: ReadonlySet<string> = new Set(PRICES_PER_CARAT.map(normalizeHeading))

/** Fields by normalised heading, from `--map`; `undefined` ignores the column. */
export type ColumnMapping = ReadonlyMap<string, FieldName | undefined>

/** Parses `--map`, such as `Lot=sku` or `Remark=`. @throws BadUsage for an unknown field */
export function parseColumnMapping(words: readonly string[]): ColumnMapping {
  return new Map(
    words.map((word) => {
      const at = word.lastIndexOf('=')
      if (at < 1) throw new BadUsage(`--map ${word}: must be COLUMN=FIELD, or COLUMN= to ignore the column`)
      const [heading, given] = [normalizeHeading(word.slice(0, at)), word.slice(at + 1).trim()]
      if (given === '') return [heading, undefined]
      const field = FIELDS.find((name) => name.toLowerCase() === given.toLowerCase())
      if (field !== undefined) return [heading, field]
      throw new BadUsage(`--map ${word}: unknown field ${given}; the v4 fields are ${FIELDS.join(', ')}`)
    }),
  )
}

/** Values from `--map-value`, by column index, then by text in lower case. */
export type ValueMap = ReadonlyMap<number, ReadonlyMap<string, string>>

/** One `--map-value`. */
export type ValueMapping = { readonly column: string; readonly text: string; readonly value: string }

/** Parses `--map-value`, such as `Cut:Super Ideal=Ideal` or `Price:ask=`. @throws BadUsage for another format */
export function parseValueMappings(words: readonly string[]): readonly ValueMapping[] {
  return words.map((word) => {
    const [, column = '', text = '', value = ''] = /^([^:]+):(.+)=([^=]*)$/.exec(word) ?? []
    if (column === '')
      throw new BadUsage(`--map-value ${word}: must be COLUMN:TEXT=VALUE, or COLUMN:TEXT= for no value`)
    return { column, text: comparisonKey(text), value: value.trim() }
  })
}

/** @throws BadUsage for a column that the header does not have */
export function groupValueMappings(header: readonly string[], values: readonly ValueMapping[]): ValueMap {
  const byColumn = new Map<number, Map<string, string>>()
  for (const { column, text, value } of values) {
    const index = header.findIndex((heading) => normalizeHeading(heading) === normalizeHeading(column))
    if (index < 0) throw new BadUsage(`--map-value: unknown column ${column}; the columns are ${namesOf(header)}`)
    byColumn.set(index, (byColumn.get(index) ?? new Map<string, string>()).set(text, value))
  }
  return byColumn
}

const namesOf = (header: readonly string[]) => header.filter(Boolean).join(', ')

export type HeaderRules = {
  readonly unknown: 'refused' | 'ignored'
  readonly mapping?: ColumnMapping
  /** Fields that must have a column; the required fields of a new diamond by default. */
  readonly required?: readonly FieldName[]
}

/**
 * Maps the columns of a header to v4 fields, by field name in upper or lower case or by a name of the trade.
 * @param rows first rows below the header; they decide whether `Cut` is the shape
 * @throws BadUsage listing all problems: unknown columns, several columns for a field, missing required fields
 */
export function readHeader(
  header: readonly string[],
  { unknown, mapping = new Map(), required = REQUIRED_FIELDS }: HeaderRules,
  rows: readonly (readonly string[])[] = [],
): Columns {
  const faults: string[] = []
  for (const heading of mapping.keys()) {
    if (!header.some((one) => normalizeHeading(one) === heading))
      faults.push(`--map: unknown column; the columns are ${namesOf(header)}`)
  }
  const meanings = header.map((heading): HeadingMeaning | undefined => {
    if (!mapping.has(normalizeHeading(heading))) return MEANINGS.get(normalizeHeading(heading))
    const field = mapping.get(normalizeHeading(heading))
    return field && { field, sureness: OWN_NAME }
  })
  const shapes = shapeColumn(header, meanings, rows)
  if (shapes !== undefined) meanings[shapes] = { field: 'cutShape', sureness: TRADE_NAME }
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
        .map(unknownColumn),
    )
  }
  faults.push(...findDuplicateColumns(header, columns), ...findAmbiguousPrices(header, columns, mapping))
  const missing = required.filter((name) => !columns.includes(name))
  if (missing.length > 0) faults.push(`The header has no column for ${missing.join(', ')}`)
  if (faults.length > 0) throw new BadUsage(faults.join('\n'))
  return columns
}

const isIgnoredMeaning = (meaning: HeadingMeaning | undefined) =>
  meaning?.sureness === VAGUE_NAME || meaning?.sureness === RANGE_END_NAME

const isMostCertainMeaning = (
  { field, sureness }: HeadingMeaning,
  meanings: readonly (HeadingMeaning | undefined)[],
): boolean => meanings.every((other) => other?.field !== field || other.sureness >= sureness)

/** In the trade, "cut" may also mean the shape: without another column for it, a `Cut` column with only shapes is the shape. */
function shapeColumn(
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
  const price = header[columns.indexOf('price')] ?? ''
  const isVague =
    !mapping.has(normalizeHeading(price)) && MEANINGS.get(normalizeHeading(price))?.sureness === VAGUE_NAME
  const discount = header.find((heading) => DISCOUNT.has(normalizeHeading(heading)))
  if (!isVague || discount === undefined || header.some((heading) => PER_CARAT.has(normalizeHeading(heading))))
    return []
  return [
    `The column ${price} may be the price per carat, since there is a column ${discount}: use --map '${price}=price' if it ` +
      `is the price of the stone, or --map '${price}=' to ignore it`,
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
      headings.every((heading) => MEANINGS.get(normalizeHeading(heading))?.sureness === RANGE_END_NAME)
    )
      return []
    return [`Several columns for ${name}: ${headings.join(' and ')} (use --map 'COLUMN=' to ignore one)`]
  })

function unknownColumn(heading: string): string {
  const near = findClosestName(comparisonKey(heading), FIELDS)
  const hint = near === undefined ? '' : `; did you mean ${near}?`
  return `The column ${heading.slice(0, 60)} is not a field of a v4 diamond${hint} (use --ignore-unknown to ignore it)`
}
