import { REQUIRED_FIELDS, type FieldName, fieldsOf } from '../../domain/diamond/fields.ts'
import { cutQuality } from '../../domain/dictionaries/cut-grades.ts'
import { findClosestName } from '../../domain/dictionaries/edit-distance.ts'
import { parseShape } from '../../domain/dictionaries/shapes.ts'
import { comparisonKey } from '../../domain/visible-text.ts'
import { BadUsage } from '../../maintenance/operation.ts'
import { FIELD_DESCRIPTIONS, type FieldDescription } from '../../representations/diamond/field-descriptions.ts'
import { DISCOUNTS, PRICES_PER_CARAT, WITHOUT_FIELD } from './trade-columns.ts'

/** What each column of a spreadsheet holds; undefined for one that is left out. */
export type Columns = readonly (FieldName | undefined)[]

const FIELDS: readonly FieldName[] = fieldsOf('v4')

/** A heading as it is compared with those of trade spreadsheets: `Stock #` is `stock`, `Girdle %` is no `Girdle`. */
const normalizeHeading = (heading: string) =>
  comparisonKey(heading)
    .replaceAll('%', 'pct')
    .replaceAll(/[^\p{L}\p{N}]/gu, '')

const wordsOf = (name: FieldName): FieldDescription => FIELD_DESCRIPTIONS[name]

/** How sure a heading is: of the columns that are one field the surer one counts. Vague ones and ends are then left out. */
const OWN_NAME = 0
const TRADE_NAME = 1
const VAGUE_NAME = 2
const RANGE_END_NAME = 3

type HeadingMeaning = { readonly field: FieldName; readonly sureness: number }

/** What headings mean: the fields' own names, and what trade spreadsheets call them. */
const MEANINGS: ReadonlyMap<string, HeadingMeaning> = new Map(
  FIELDS.flatMap((field) => {
    const { headings = [], vague = [], ends = [] } = wordsOf(field)
    const meant = (names: readonly string[], sureness: number) =>
      names.map((name) => [normalizeHeading(name), { field, sureness }] as const)
    // The last of equal keys counts: a name that is vague is so where it is the field's own, too.
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

/** What a column is said to be on the command line, by its heading; `undefined` leaves it out. */
export type ColumnMapping = ReadonlyMap<string, FieldName | undefined>

/** `Lot=sku`, `Remark=`. @throws BadUsage for a field that there is none of */
export function parseColumnMapping(words: readonly string[]): ColumnMapping {
  return new Map(
    words.map((word) => {
      const at = word.lastIndexOf('=')
      if (at < 1) throw new BadUsage(`--map ${word}: write COLUMN=FIELD, or COLUMN= to leave it out`)
      const [heading, given] = [normalizeHeading(word.slice(0, at)), word.slice(at + 1).trim()]
      if (given === '') return [heading, undefined]
      const field = FIELDS.find((name) => name.toLowerCase() === given.toLowerCase())
      if (field !== undefined) return [heading, field]
      throw new BadUsage(`--map ${word}: ${given} is no field of a v4 diamond; there are ${FIELDS.join(', ')}`)
    }),
  )
}

/** What a person said that texts mean: by column, then by text in small letters. */
export type ValueMap = ReadonlyMap<number, ReadonlyMap<string, string>>

/** What a text of a column means. */
export type ValueMapping = { readonly column: string; readonly text: string; readonly value: string }

/** `Cut:Super Ideal=Ideal`, `Price:ask=`. @throws BadUsage for words of another form */
export function parseValueMappings(words: readonly string[]): readonly ValueMapping[] {
  return words.map((word) => {
    const [, column = '', text = '', value = ''] = /^([^:]+):(.+)=([^=]*)$/.exec(word) ?? []
    if (column === '') throw new BadUsage(`--map-value ${word}: write COLUMN:TEXT=VALUE, or COLUMN:TEXT= for no value`)
    return { column, text: comparisonKey(text), value: value.trim() }
  })
}

/** The same by column. @throws BadUsage for a column that is not there */
export function groupValueMappings(header: readonly string[], values: readonly ValueMapping[]): ValueMap {
  const byColumn = new Map<number, Map<string, string>>()
  for (const { column, text, value } of values) {
    const index = header.findIndex((heading) => normalizeHeading(heading) === normalizeHeading(column))
    if (index < 0)
      throw new BadUsage(`--map-value names the column ${column}, which is not there; there are ${namesOf(header)}`)
    byColumn.set(index, (byColumn.get(index) ?? new Map<string, string>()).set(text, value))
  }
  return byColumn
}

const namesOf = (header: readonly string[]) => header.filter(Boolean).join(', ')

export type HeaderRules = {
  readonly unknown: 'refused' | 'ignored'
  readonly mapping?: ColumnMapping
  /** What there has to be a column for: what every diamond has, unless told. */
  readonly required?: readonly FieldName[]
}

/**
 * The v4 fields that a header names, in any case, or as trade spreadsheets call them. A column without a heading holds none.
 * @param rows below it, by which it is told whether `Cut` is the shape
 * @throws BadUsage with all that is wrong: columns that are no field, fields that come twice, required ones that are missing
 */
export function readHeader(
  header: readonly string[],
  { unknown, mapping = new Map(), required = REQUIRED_FIELDS }: HeaderRules,
  rows: readonly (readonly string[])[] = [],
): Columns {
  const faults: string[] = []
  for (const heading of mapping.keys()) {
    if (!header.some((one) => normalizeHeading(one) === heading))
      faults.push(`--map names a column that is not there; there are ${namesOf(header)}`)
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
  if (missing.length > 0) faults.push(`The header lacks ${missing.join(', ')}, without which there is no stone`)
  if (faults.length > 0) throw new BadUsage(faults.join('\n'))
  return columns
}

const isIgnoredMeaning = (meaning: HeadingMeaning | undefined) =>
  meaning?.sureness === VAGUE_NAME || meaning?.sureness === RANGE_END_NAME

const isMostCertainMeaning = (
  { field, sureness }: HeadingMeaning,
  meanings: readonly (HeadingMeaning | undefined)[],
): boolean => meanings.every((other) => other?.field !== field || other.sureness >= sureness)

/** The trade calls the shape a cut, too: where no other column is the shape, one of cuts that has shapes alone is. */
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

/** A column `Price` beside discounts may be of one carat, as on RapNet: a person has to say so. */
function findAmbiguousPrices(header: readonly string[], columns: Columns, mapping: ColumnMapping): readonly string[] {
  const price = header[columns.indexOf('price')] ?? ''
  const isVague =
    !mapping.has(normalizeHeading(price)) && MEANINGS.get(normalizeHeading(price))?.sureness === VAGUE_NAME
  const discount = header.find((heading) => DISCOUNT.has(normalizeHeading(heading)))
  if (!isVague || discount === undefined || header.some((heading) => PER_CARAT.has(normalizeHeading(heading))))
    return []
  return [
    `${price} beside ${discount} may be the price of one carat: --map '${price}=price' says that it is the stone's, ` +
      `--map '${price}=' leaves it out`,
  ]
}

/** How many of a row's cells are headings that are known: a header has at least two. */
export const countKnownHeadings = (
  cells: readonly string[],
  { mapping = new Map() }: Pick<HeaderRules, 'mapping'>,
): number =>
  cells.filter((cell) => {
    const heading = normalizeHeading(cell)
    return heading !== '' && (mapping.has(heading) || MEANINGS.has(heading) || IGNORED_HEADINGS.has(heading))
  }).length

/** Fields that two columns are, unless each holds an end of it. */
const findDuplicateColumns = (header: readonly string[], columns: Columns): readonly string[] =>
  FIELDS.flatMap((name) => {
    const headings = header.filter((_, index) => columns[index] === name)
    if (
      headings.length < 2 ||
      headings.every((heading) => MEANINGS.get(normalizeHeading(heading))?.sureness === RANGE_END_NAME)
    )
      return []
    return [`The header names ${name} twice, as ${headings.join(' and ')} (--map 'COLUMN=' leaves one out)`]
  })

function unknownColumn(heading: string): string {
  const near = findClosestName(comparisonKey(heading), FIELDS)
  const hint = near === undefined ? '' : `; did you mean ${near}?`
  return `The column ${heading.slice(0, 60)} is no field of a v4 diamond${hint} (--ignore-unknown leaves it out)`
}
